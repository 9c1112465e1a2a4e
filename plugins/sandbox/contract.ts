import { type Admitted, type Caller, type Invocation, service } from '#kernel';
import type { Posture } from '../../sandbox/host/posture/posture.ts';
import type { Activation, ContractEntry, GuestError } from '../../sandbox/protocol/messages.ts';

export type { Activation, ContractEntry, GuestError, Posture };

/** State of the confined runtime (specification, "Extension endpoints", `meta.confinedRuntime`). */
export interface RuntimeState {
  readonly state: 'not-required' | 'available' | 'unavailable';
  /** Wherever it was resolved, so also where it says `refuse`. */
  readonly posture: Posture | null;
  /** Why it is unavailable: one line for the administrator. */
  readonly reason?: string;
}

/** An artifact ready to run: `(function (module, exports) { … })` as text. What was probed is what runs. */
export type Script = string;

/** One run of confined code failed; texts of the guest never leave the sandbox. */
export class GuestFailure extends Error {
  readonly code: GuestError;

  constructor(code: GuestError) {
    super(`confined code failed: ${code}`);
    this.name = 'GuestFailure';
    this.code = code;
  }
}

export interface Program {
  /** Who it is and what it may call. */
  readonly admitted: Admitted;
  readonly script: Script;
  /** A context serves several invocations after each other: the extension's declared opt-in. */
  readonly reuse: boolean;
  /** It crashed too often and is not started again until somebody says so. */
  onParked(reason: { readonly code: string; readonly detail: string }): void;
}

export interface Run {
  /** A key of the contract: '' or `type:name`. */
  readonly entry: string;
  readonly contributionId: string;
  readonly activation: Activation;
  /** On whose authority, where the entries of one program have each their own; else the program's. */
  readonly admitted?: Admitted;
  /** On whose behalf; null for nobody. */
  readonly caller: Caller | null;
  /** JSON text. */
  readonly input: string;
  /** Makes references out of secrets that the input names, before it is read. */
  readonly prepare?: (invocation: Invocation) => string;
  /** The client went away. */
  readonly signal?: AbortSignal | undefined;
}

/** What a handler answered. */
export interface Outcome {
  /** JSON text, checked to be JSON; undefined for no value at all. */
  readonly text: string | undefined;
  readonly value: unknown;
}

/** A program that may be invoked. Its process is started when it is needed and ended when it is idle. */
export interface Guest {
  /** Rejects with a GuestFailure. */
  invoke(run: Run): Promise<Outcome>;
  /** Starts a parked program anew. */
  restart(): void;
  /** `idle` has no process. */
  state(): 'idle' | 'running' | 'waiting' | 'parked';
  /** In-flight invocations fail; its process is gone when this resolves. */
  close(): Promise<void>;
}

export interface Sandbox {
  /** Resolves the runtime on first use: settings, self-tests, posture. Never rejects. */
  runtime(): Promise<RuntimeState>;
  /** As far as it is known, without starting anything. */
  state(): RuntimeState;
  /** Evaluates a script in a fresh process; calls no handler, every call of the host is `unsupported`. */
  probe(script: Script): Promise<readonly ContractEntry[]>;
  open(program: Program): Guest;
  /** Bytes of the largest artifact (EXTENSIONS_SANDBOX_MAX_ARTIFACT). */
  maxArtifact(): number;
}

export const sandbox = service<Sandbox>('sandbox', { version: '1.0.0' });
