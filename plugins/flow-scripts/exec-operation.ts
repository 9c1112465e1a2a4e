import { createHash } from 'node:crypto';
import { fail, isSystem } from '#kernel';
import type { PackageHandle } from '../broker/contract.ts';
import type { FlowOperationKind } from '../flows/contract.ts';
import type { GuestProgram, Sandbox } from '../sandbox/contract.ts';
import { GuestFailure } from '../sandbox/library.ts';
import { buildScriptText, type ScriptResult } from './script-text.ts';

interface Deps {
  readonly sandbox: Pick<Sandbox, 'open' | 'runtime' | 'state' | 'maxArtifact'>;
  readonly brokerAccess: PackageHandle;
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds for one run, at most those of the sandbox. */
  readonly timeout: number;
}

/** Programs that stay open; their processes end when idle. The one that was used longest ago is closed for a further one. */
const MAX_PROGRAMS = 50;

/** The error of a script that did not end by itself, as data of the run. */
class ScriptFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'ScriptFailure';
    this.code = code;
  }
}

const MESSAGES: Readonly<Record<string, string>> = {
  timeout: 'The script took too long.',
  'cpu-limit': 'The script used too much processor time.',
  crash: 'The process of the script ended, for example because its memory was used up.',
  'invalid-entry': 'The code cannot be run: it must be a script that assigns a function to module.exports.',
  'result-too-large': 'The result of the script is too large.',
  'invalid-result': 'The result of the script is not JSON.',
  busy: 'No process is free for the script.',
};

/** `exec`: runs the code of an administrator in a confined process, as code of third parties runs. */
export function createExecOperation({ sandbox, brokerAccess, env, timeout }: Deps) {
  const programs = new Map<string, GuestProgram>();

  function programOf(code: string): GuestProgram {
    const script = buildScriptText(code, env);
    const key = createHash('sha256').update(script).digest('base64url');
    const known = programs.get(key);
    if (known) {
      programs.delete(key);
      // A program that crashed too often may start again: its code is not that of a package that has to be mended.
      if (known.state() === 'parked') known.restart();
    }
    const program = known ?? sandbox.open({ brokerAccess, script, reuse: false, onParked: () => {} });
    programs.set(key, program);
    const [oldest] = programs.keys();
    if (programs.size > MAX_PROGRAMS && oldest !== undefined) {
      void programs.get(oldest)?.close();
      programs.delete(oldest);
    }
    return program;
  }

  const operation: FlowOperationKind = {
    id: 'exec',
    trial: 'run',
    async run({ code }, { data, caller, signal: ended }) {
      if (typeof code !== 'string') throw fail('INVALID_PAYLOAD', 'the option "code" must be a text');
      if (Buffer.byteLength(code) > sandbox.maxArtifact() / 2) throw fail('INVALID_PAYLOAD', 'the code is too long');
      const { state, reason } = await sandbox.runtime();
      if (state === 'unavailable')
        throw new ScriptFailure(
          'unavailable',
          `Scripts cannot run: ${reason ?? 'the confined runtime is unavailable'}.`,
        );
      const limit = AbortSignal.timeout(timeout);
      const signal = ended ? AbortSignal.any([limit, ended]) : limit;
      try {
        const { value } = await programOf(code).invoke({
          entry: '',
          contributionId: 'exec',
          // As an operation of a package, so that `console` reaches the log.
          activation: { type: 'flow-operation' },
          caller: caller && !isSystem(caller) ? caller : null,
          input: JSON.stringify(data),
          signal,
        });
        return resultOf(value);
      } catch (error) {
        if (limit.aborted) throw new ScriptFailure('timeout', MESSAGES.timeout as string);
        if (!(error instanceof GuestFailure)) throw error;
        throw new ScriptFailure(error.code, error.thrown?.message ?? MESSAGES[error.code] ?? 'The script failed.');
      }
    },
  };
  return {
    operation,
    async close() {
      await Promise.all([...programs.values()].map((one) => one.close()));
    },
  };
}

function resultOf(result: unknown): unknown {
  const { value, thrown } = Object(result) as ScriptResult;
  if (thrown === undefined) return value ?? null;
  const { name, message } = Object(thrown) as { readonly name?: unknown; readonly message?: unknown };
  if (typeof name === 'string' && typeof message === 'string') throw Object.assign(new Error(message), { name });
  throw thrown;
}
