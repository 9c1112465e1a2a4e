/**
 * Where a run stands. `waiting` and `running` are under way; `resolve`, `reject` and `unknown` are the status of its last operation;
 * `interrupted`: its process died, and no other one repeats it.
 */
export const RUN_STATUSES = ['waiting', 'running', 'resolve', 'reject', 'unknown', 'cancelled', 'interrupted'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const isUnderWay = (status: RunStatus): boolean => status === 'waiting' || status === 'running';
