/** Arguments that make no sense: the command ends with 2, and prints its usage. */
export class UsageError extends Error {}

/** Why a backup or a restore is refused, and what to do about it: the command ends with 1. */
export class BackupError extends Error {
  readonly remedy: string;

  constructor(reason: string, remedy: string, cause?: unknown) {
    super(reason, { cause });
    this.remedy = remedy;
  }
}
