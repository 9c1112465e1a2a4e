import { authorities, type Caller, facet, service } from '#kernel';
import type { Posture } from '../../sandbox/host/posture/confinement-layers.ts';
import type { ArtifactExport, InvocationFailureCode, InvocationTrigger } from '../../sandbox/protocol/messages.ts';
import type { ConfinedCodeInvocation, PackageHandle } from '../broker/contract.ts';
import type { OperationObserver } from '../telemetry/contract.ts';
import { combineObservers } from '../telemetry/library.ts';

export type { ArtifactExport, InvocationFailureCode, InvocationTrigger, Posture };

/** State of the confined runtime (specification, "Extension endpoints", `meta.confinedRuntime`). */
export interface ConfinedRuntimeState {
  readonly state: 'not-required' | 'available' | 'unavailable';
  /** Set once the runtime was resolved, also where the decision is `refuse`. */
  readonly posture: Posture | null;
  /** Why the runtime is unavailable: one line for the administrator. */
  readonly reason?: string;
}

/** An artifact ready to run: `(function (module, exports) { … })` as text. The same text is probed and run. */
export type ConfinedScriptText = string;

/** A program of the sandbox: one package with its artifact. */
export interface SandboxProgram {
  /** The package as the broker knows it: its name and grants. */
  readonly brokerAccess: PackageHandle;
  readonly script: ConfinedScriptText;
  /** True: one realm (V8 context) serves several invocations. The manifest opts in by `"stateful": true`. */
  readonly reuse: boolean;
  /**
   * Hooks have processes and execution slots of their own, so that public endpoints cannot use them up. Default:
   * `open`, for endpoints and operations.
   */
  readonly kind?: 'hooks' | 'open';
  /** Called when the program crashed too often. It is not started again before `GuestProgram.restart`. */
  onParked(reason: { readonly code: string; readonly detail: string }): void;
}

/** One invocation of a program. */
export interface InvocationRequest {
  /** A key of the contract: '' or `type:name`. */
  readonly entry: string;
  readonly contributionId: string;
  readonly activation: InvocationTrigger;
  /**
   * The package handle of the entry, where entries of one program have grants of their own. Default: the handle of the program.
   */
  readonly brokerAccess?: PackageHandle;
  /** The caller of the invocation; null where there is no user, as with a schedule. */
  readonly caller: Caller | null;
  /** The input of the handler as JSON text. */
  readonly input: string;
  /** Builds the input for the invocation, with references in place of secrets. Default: `input`. */
  readonly prepare?: (invocation: ConfinedCodeInvocation) => string;
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of a handler. */
export interface ConfinedHandlerResult {
  /** Valid JSON text; undefined where the handler returned no value. */
  readonly text: string | undefined;
  readonly value: unknown;
}

/** A program that can be invoked. Its process starts on demand and ends when idle. */
export interface GuestProgram {
  /**
   * Runs one entry and validates that its result is JSON.
   * @throws GuestFailure with the code of the failure; `internal` where the runtime is unavailable or the guest is
   * closed.
   */
  invoke(run: InvocationRequest): Promise<ConfinedHandlerResult>;
  /** Allows a parked program to start again. */
  restart(): void;
  /** The state of the program. `idle`: no process; `waiting`: a restart delay runs. */
  state(): 'idle' | 'running' | 'waiting' | 'parked';
  /** Fails invocations in flight and resolves when the process has ended. */
  close(): Promise<void>;
}

/** Processes in which third-party code runs confined. Provided by `sandbox`, used by `extensions-confined`. */
export interface Sandbox {
  /** Resolves the runtime on first use: settings, self-tests, posture. Never rejects. */
  runtime(): Promise<ConfinedRuntimeState>;
  /** The state so far, without starting the runtime. */
  state(): ConfinedRuntimeState;
  /**
   * Evaluates a script in a fresh process; calls no handler, every call of the host is `unsupported`.
   * @throws GuestFailure with the code of the failure; `internal` where the runtime is unavailable.
   */
  probe(script: ConfinedScriptText): Promise<readonly ArtifactExport[]>;
  /** A guest for the program. Its process is started by the first invocation at the latest. */
  open(program: SandboxProgram): GuestProgram;
  /** Bytes of the largest artifact (EXTENSIONS_SANDBOX_MAX_ARTIFACT). */
  maxArtifact(): number;
}

/** The service that runs confined code, for the plugins that load confined packages. */
export const sandbox = service<Sandbox>('sandbox', { version: '1.0.0' });

/** Observers of the calls of confined code. */
export const sandboxObservers = facet<OperationObserver, OperationObserver | undefined>('sandbox.observers', {
  combine: combineObservers,
  coreOnly: true,
  describe: () => authorities('listens to', ['calls'], 'of confined code'),
});
