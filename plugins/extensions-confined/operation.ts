import type { Operation } from '../flows/contract.ts';
import type { GuestError } from '../sandbox/contract.ts';
import { GuestFailure } from '../sandbox/library.ts';
import { type Running, run } from './running.ts';

/** Bytes of options and input together, as JSON. */
const LONGEST_INPUT = 1024 * 1024;

/** Why a step took the reject branch; both members are what its data holds. The text is the host's own. */
export class OperationFailure extends Error {
  readonly code: GuestError;

  constructor(code: GuestError) {
    super('The operation failed.');
    this.name = 'OperationFailure';
    this.code = code;
  }

  /** As data of the chain. */
  toJSON(): { readonly message: string; readonly code: string } {
    return { message: this.message, code: this.code };
  }
}

/**
 * A step of flows by a confined handler: it gets its options and what the step before answered, not the whole chain
 * (conventions, "Operation input"). Options delivered by reference reach it as references that only the host can read.
 */
export function confinedOperation(running: () => Running, id: string, secretOptions: readonly string[]): Operation {
  return {
    id,
    secretOptions,
    async run(options, { data, caller }) {
      const input = data.$last ?? null;
      const plain = Object.fromEntries(Object.entries(options).filter(([key]) => !secretOptions.includes(key)));
      const text = (secrets: Readonly<Record<string, unknown>>) => {
        const json = JSON.stringify({ options: { ...plain, ...secrets }, input });
        if (Buffer.byteLength(json) > LONGEST_INPUT) throw new GuestFailure('internal');
        return json;
      };
      try {
        const { value } = await run(running(), {
          activation: { type: 'flow-operation' },
          caller,
          input: '',
          prepare: ({ secrets }) =>
            text(
              Object.fromEntries(
                secretOptions
                  .filter((key) => Object.hasOwn(options, key))
                  .map((key) => [key, referTo(options[key], secrets)]),
              ),
            ),
        });
        return value ?? null;
      } catch (error) {
        throw new OperationFailure(error instanceof GuestFailure ? error.code : 'internal');
      }
    },
  };
}

/** Blank is as good as not set; what is no text is no secret, and is not shown either. */
const referTo = (value: unknown, secrets: { conceal(value: string): unknown }): unknown =>
  typeof value === 'string' && value !== '' ? secrets.conceal(value) : null;
