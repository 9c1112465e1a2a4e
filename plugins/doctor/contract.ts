import { authorities, facet } from '#kernel';

/** What a check has found. */
export interface DoctorFinding {
  /** `fail`: the service does not work so; `warn`: it works, and an admin should know. */
  readonly status: 'ok' | 'warn' | 'fail';
  readonly text: string;
  /** What to do; there for each `warn` and `fail`. */
  readonly remedy?: string;
}

/** One thing that the command `doctor` looks at. No plugin is migrated or started: a check opens what it needs. */
export interface DoctorCheck {
  /** Name in the list, such as `database`. */
  readonly name: string;
  /**
   * Looks, changes nothing that stays, and answers what it found. An error is a `fail` with its message and its `remedy`. It ends after
   * thirty seconds at most: then it counts as failed.
   */
  run(): Promise<readonly DoctorFinding[]>;
}

/** Checks of `doctor`, in plugin order. Plugins of lower floors name this facet by its id, as optional. */
export const doctorChecks = facet<DoctorCheck>('doctor.checks', {
  coreOnly: true,
  describe: () => authorities('contributes to', ['the checks of the command doctor']),
});
