import { type Caller, service } from '#kernel';
import type { Posture } from '../../sandbox/host/posture/posture.ts';
import type { Activation, ContractEntry, GuestError } from '../../sandbox/protocol/messages.ts';
import type { Admitted, Invocation } from '../broker/contract.ts';

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

/** What a sandbox runs: one package with its artifact. */
export interface SandboxProgram {
  /** Who it is and what it may call. */
  readonly admitted: Admitted;
  readonly script: Script;
  /** A context serves several invocations after each other: the extension's declared opt-in. */
  readonly reuse: boolean;
  /** Hooks run in processes and places of their own, which endpoints that anybody may call cannot take. */
  readonly kind?: 'hooks' | 'open';
  /** Called when it crashed too often; it is not started again before `Guest.restart`. */
  onParked(reason: { readonly code: string; readonly detail: string }): void;
}

/** One invocation of a program. */
export interface Run {
  /** A key of the contract: '' or `type:name`. */
  readonly entry: string;
  readonly contributionId: string;
  readonly activation: Activation;
  /** On whose authority, where the entries of one program have each their own; else the program's. */
  readonly admitted?: Admitted;
  /** On whose behalf; null where there is no user, as with a schedule. */
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
  /**
   * Runs one entry and checks its answer.
   * @throws GuestFailure with the code of the failure; `internal` where the runtime is unavailable or the guest is closed.
   */
  invoke(run: Run): Promise<Outcome>;
  /** Starts a parked program anew. */
  restart(): void;
  /** `idle` has no process. */
  state(): 'idle' | 'running' | 'waiting' | 'parked';
  /** In-flight invocations fail; its process is gone when this resolves. */
  close(): Promise<void>;
}

/** Processes in which third-party code runs confined. Provided by `sandbox`, used by `extensions-confined`. */
export interface Sandbox {
  /** Resolves the runtime on first use: settings, self-tests, posture. Never rejects. */
  runtime(): Promise<RuntimeState>;
  /** As far as it is known, without starting anything. */
  state(): RuntimeState;
  /**
   * Evaluates a script in a fresh process; calls no handler, every call of the host is `unsupported`.
   * @throws GuestFailure with the code of the failure; `internal` where the runtime is unavailable.
   */
  probe(script: Script): Promise<readonly ContractEntry[]>;
  /** A guest for the program. Its process is started by the first invocation at the latest. */
  open(program: SandboxProgram): Guest;
  /** Bytes of the largest artifact (EXTENSIONS_SANDBOX_MAX_ARTIFACT). */
  maxArtifact(): number;
}

/** For the plugins that load confined packages. */
export const sandbox = service<Sandbox>('sandbox', { version: '1.0.0' });
