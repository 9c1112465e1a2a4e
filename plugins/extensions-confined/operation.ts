import type { FlowOperationKind } from '../flows/contract.ts';
import type { CustomFailure } from '../http/library.ts';
import type { InvocationFailureCode } from '../sandbox/contract.ts';
import { GuestFailure } from '../sandbox/library.ts';
import { toAuthorRejectionOrRecord } from './author-rejection.ts';
import { type LoadedContribution, runConfinedHandler } from './run-handler.ts';

/** Limit for options and input together, in bytes of JSON. */
const MAX_INPUT = 1024 * 1024;

/** Codes in flows (conventions, "Failure of an invocation"), by the more exact codes of the sandbox. */
const FLOW_CODES: Partial<Record<InvocationFailureCode, InvocationFailureCode>> = {
  'cpu-limit': 'timeout',
  'result-too-large': 'invalid-result',
};

/**
 * The error by which a flow step takes the reject branch; its members are the data of the branch. The message is fixed unless the
 * author called `reject`.
 */
export class FlowOperationFailure extends Error {
  readonly code: string;
  /** The status of the author's `reject`. */
  readonly status: number | undefined;

  constructor(code: InvocationFailureCode, stated?: CustomFailure) {
    super(stated?.message ?? 'The operation failed.');
    this.name = 'OperationFailure';
    this.code = stated?.toClientView().code ?? FLOW_CODES[code] ?? code;
    this.status = stated?.status;
  }

  /** The error as data of the flow. */
  toJSON(): { readonly message: string; readonly code: string; readonly status?: number } {
    const { message, code, status } = this;
    return { message, code, ...(status === undefined ? {} : { status }) };
  }
}

/**
 * A flow operation that calls a confined handler. The handler gets its options and the result of the previous step, not
 * the whole chain (conventions, "Operation input"). Options with `delivery: reference` are references that only the
 * host resolves.
 */
export function createConfinedOperation(
  running: () => LoadedContribution,
  id: string,
  secretOptions: readonly string[],
): FlowOperationKind {
  return {
    id,
    secretOptions,
    async run(options, { data, caller, signal }) {
      const input = data.$last ?? null;
      const plain = Object.fromEntries(Object.entries(options).filter(([key]) => !secretOptions.includes(key)));
      const text = (secrets: Readonly<Record<string, unknown>>) => {
        const json = JSON.stringify({ options: { ...plain, ...secrets }, input });
        if (Buffer.byteLength(json) > MAX_INPUT) throw new GuestFailure('internal');
        return json;
      };
      const one = running();
      try {
        const { value } = await runConfinedHandler(one, {
          activation: { type: 'flow-operation' },
          caller,
          signal,
          input: '',
          prepare: ({ secrets }) =>
            text(
              Object.fromEntries(
                secretOptions
                  .filter((key) => Object.hasOwn(options, key))
                  .map((key) => [key, toReference(options[key], secrets)]),
              ),
            ),
        });
        return value ?? null;
      } catch (error) {
        if (!(error instanceof GuestFailure)) throw new FlowOperationFailure('internal');
        throw new FlowOperationFailure(error.code, toAuthorRejectionOrRecord(error, one.failures));
      }
    },
  };
}

/** A reference to a secret; null for an empty value and for one that is not a text. */
const toReference = (value: unknown, secrets: { conceal(value: string): unknown }): unknown =>
  typeof value === 'string' && value !== '' ? secrets.conceal(value) : null;
