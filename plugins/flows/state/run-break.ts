/** Ends the work on a run in this process, but not the run. Operations pass it on; no `reject` follows. */
export class RunBreak extends Error {
  override readonly name: string = 'RunBreak';
}

/** The run waits, or was interrupted: it goes on at a time, in any process. */
export class RunSuspension extends RunBreak {
  override readonly name = 'RunSuspension';
  readonly until: Date;

  constructor(until: Date) {
    super(`the run goes on at ${until.toISOString()}`);
    this.until = until;
  }
}

/** Why a run ends that was cancelled: it does not go on elsewhere. The reason of the signals of its operations. */
export class RunCancellation extends Error {
  override readonly name = 'RunCancellation';

  constructor() {
    super('the run was cancelled');
  }
}
