/** Why a process ended. Only `requested` is no fault of the program. */
export type ProcessEndCause = 'requested' | 'refused' | 'died' | 'protocol' | 'stuck' | 'slow-start' | 'cpu' | 'memory';

const SENTENCES: Readonly<Record<ProcessEndCause, string>> = {
  requested: 'its end was requested',
  refused: 'its code could not be evaluated',
  died: 'its process died',
  protocol: 'it broke the protocol',
  stuck: 'it did not answer in time',
  'slow-start': 'it did not start in time',
  cpu: 'it used more CPU time than it may',
  memory: 'confined processes used more memory together than they may, and it had the most',
};

export const renderProcessEndCause = (cause: ProcessEndCause): string => SENTENCES[cause];
