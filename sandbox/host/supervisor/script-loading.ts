import type { ArtifactExport } from '../../protocol/messages.ts';
import { createDeferred } from './deferred.ts';
import type { InvocationFailure } from './invocation-failure.ts';

/** Host calls that are refused while a script is evaluated, before the process is ended. */
const MAX_CALLS = 1000;
const REFUSAL = JSON.stringify({
  code: 'unsupported',
  message: 'Host calls are not available while the script is loading.',
});

/** The evaluation of a script in a process, from the message `load` to `loaded` or `refused`. */
export class ScriptLoading {
  readonly #contract = createDeferred<readonly ArtifactExport[]>();
  #calls = 0;

  get contract(): Promise<readonly ArtifactExport[]> {
    return this.#contract.promise;
  }

  finish(contract: readonly ArtifactExport[]): void {
    this.#contract.resolve(contract);
  }

  fail(failure: InvocationFailure): void {
    this.#contract.reject(failure);
  }

  /** Refuses a host call. False after `MAX_CALLS`. */
  refuse(reply: (json: string) => void): boolean {
    if (++this.#calls > MAX_CALLS) return false;
    reply(REFUSAL);
    return true;
  }
}
