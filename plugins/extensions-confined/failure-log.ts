import type { Log } from '#kernel';
import type { ContributionFailure } from '../extensions/contract.ts';
import type { GuestFailure } from '../sandbox/library.ts';
import type { ConfinedContribution } from './gate/contributions.ts';
import type { SourcePositions } from './gate/source-positions.ts';

/** Number of different failures that are kept for one contribution. */
const MAX_KEPT = 5;
/** Log lines in a burst, and milliseconds until one more is allowed. */
const LINE_BURST = 5;
const LINE_INTERVAL = 10_000;

/** The latest failures of one contribution. */
export interface ContributionFailureLog {
  /** Keeps a failure, and logs it unless there were many just now. `event` is set for hooks. */
  record(error: GuestFailure | ServiceDetectedFailure, event?: string): void;
  /** The kept failures, the latest first. */
  list(): readonly ContributionFailure[];
}

/** A failure that the service detected rather than the sandbox. */
export interface ServiceDetectedFailure {
  readonly code: string;
  readonly message: string;
}

interface Options {
  readonly extension: string;
  readonly contribution: Pick<ConfinedContribution, 'type' | 'id'>;
  readonly positions: SourcePositions;
  /** Removes values of the environment from a text. */
  redact(text: string): string;
  readonly log: Pick<Log, 'warn'>;
  readonly now?: () => number;
}

/** Failures of one contribution, for its author and for admins: bounded in memory and in log lines. */
export function createContributionFailureLog({
  extension,
  contribution,
  positions,
  redact,
  log,
  now = Date.now,
}: Options): ContributionFailureLog {
  const { type, id } = contribution;
  let kept: readonly ContributionFailure[] = [];
  let lines = LINE_BURST;
  let lineAt = now();
  let withheld = 0;

  function write(failure: ContributionFailure): void {
    const time = now();
    const earned = Math.floor((time - lineAt) / LINE_INTERVAL);
    if (earned > 0) {
      lines = Math.min(LINE_BURST, lines + earned);
      lineAt = time;
    }
    if (lines === 0) {
      withheld++;
      return;
    }
    lines--;
    const { count: _count, time: _time, ...shown } = failure;
    log.warn(
      { extension, ...shown, ...(withheld > 0 ? { withheld } : {}) },
      `${extension}: the ${type} "${id}" failed`,
    );
    withheld = 0;
  }

  return {
    record(error, event) {
      const code = error.code.toUpperCase().replaceAll('-', '_');
      const thrown = 'thrown' in error ? error.thrown : { message: error.message };
      const at = thrown && 'at' in thrown && thrown.at ? positions.find(thrown.at) : undefined;
      const message = thrown && redact(thrown.message);
      const same = kept.find(
        (one) => one.code === code && one.event === event && one.at === at && one.message === message,
      );
      const failure = {
        ...{ type, contribution: id, code },
        ...(event === undefined ? {} : { event }),
        ...(message === undefined ? {} : { message }),
        ...(at === undefined ? {} : { at }),
        count: (same?.count ?? 0) + 1,
        time: new Date(now()).toISOString(),
      };
      kept = [failure, ...kept.filter((one) => one !== same)].slice(0, MAX_KEPT);
      write(failure);
    },
    list: () => kept,
  };
}
