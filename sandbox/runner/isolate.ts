import type IsolatedVm from 'isolated-vm';
import type { GuestLimits } from '../protocol/messages.ts';
import { ARTIFACT_NAME_IN_STACK_TRACES } from '../protocol/messages.ts';
import { listNonLanguageGlobals } from './language-globals.ts';
import { REALM_OPERATION_CODES } from './realm-ops.ts';
import { createTimeSliceRunner, type RealmEntryPointReference, type TimeSliceResult } from './time-slice.ts';

/** The bundled text of `guest/`, defined when the runner is built. */
declare const PRELUDE: string;

export type IsolatedVmModule = typeof IsolatedVm;

/** A V8 context with the prelude and the artifact in it. */
export interface GuestRealm {
  /** The result of evaluating the artifact in this realm. */
  readonly state: 'ready' | 'timeout' | 'broken';
  /** Runs guest code and the promise jobs that follow for at most `time` milliseconds. */
  enter(op: number, id: number, key: number, text: string, more: string | number, time: number): TimeSliceResult;
  /** The oldest message of the realm; see `guest/outbox.ts`. Runs no guest code. */
  fetch(): string | undefined;
  release(): void;
}

/** Creates realms for one artifact, in one isolate. */
export interface ArtifactIsolate {
  /** Creates a number of realms without the artifact. */
  prepare(realms: number): void;
  /** Sets the artifact of all further realms. Throws where it cannot be compiled. */
  load(artifact: string): void;
  /** Creates a realm and evaluates the artifact. With `describe` its first message is the contract. */
  createRealm(describe: boolean): GuestRealm;
  /** Returns once the isolate has executed a function of the runner. */
  touch(): void;
}

/** A context with the prelude in it and without the artifact. */
interface BareRealm {
  readonly context: IsolatedVm.Context;
  readonly enter: RealmEntryPointReference;
}

export function createArtifactIsolate(ivm: IsolatedVmModule, limits: GuestLimits): ArtifactIsolate {
  // No `onCatastrophicError`: it would be called on this thread, which is the one that hangs. Without it the process
  // aborts.
  const isolate = new ivm.Isolate({ memoryLimit: Math.max(8, Math.floor(limits.memory / 2 ** 20)), inspector: false });
  const idle = isolate.createContextSync();
  const preludeArguments = [
    Number(limits.hostCall),
    Number(limits.result),
    JSON.stringify(listNonLanguageGlobals((text) => idle.evalSync(text))),
  ];
  const prelude = isolate.compileScriptSync(`${PRELUDE}(${preludeArguments})`);
  const rest = idle.evalSync('() => {}', { reference: true }) as unknown as RealmEntryPointReference;
  const { runSlice, flushPromiseJobs } = createTimeSliceRunner(isolate, rest, limits);
  const prepared: BareRealm[] = [];
  let program: IsolatedVm.Script | undefined;

  function createBareRealm(): BareRealm {
    const context = isolate.createContextSync();
    return { context, enter: prelude.runSync(context, { reference: true }) as unknown as RealmEntryPointReference };
  }

  function createRealm(describe: boolean): GuestRealm {
    const { context, enter } = prepared.pop() ?? createBareRealm();
    const state = evaluate(context, enter, describe);
    let isReleased = false;
    return {
      state,
      enter: (op, id, key, text, more, time) =>
        runSlice(time, (options) => enter.applySync(undefined, [op, id, key, text, more], options)),
      fetch: () => enter.applySync(undefined, [REALM_OPERATION_CODES.fetch, 0, 0, '', 0]) as string | undefined,
      release() {
        if (isReleased) return;
        isReleased = true;
        enter.release();
        context.release();
      },
    };
  }

  function evaluate(
    context: IsolatedVm.Context,
    enter: RealmEntryPointReference,
    describe: boolean,
  ): GuestRealm['state'] {
    let artifactFunction: IsolatedVm.Reference | undefined;
    // A reference, since otherwise isolated-vm would read the value through getters of the guest.
    const run = runSlice(limits.cpu, (options) => {
      artifactFunction = program?.runSync(context, { ...options, reference: true }) as unknown as IsolatedVm.Reference;
    });
    if (run.isInterrupted) return 'timeout';
    if (artifactFunction?.typeof !== 'function') {
      artifactFunction?.release();
      return 'broken';
    }
    const exported = artifactFunction.derefInto({ release: true });
    const evaluated = runSlice(limits.cpu - run.cpuTime, (options) => {
      enter.applySync(undefined, [REALM_OPERATION_CODES.evaluate, 0, describe ? 1 : 0, '', exported], options);
    });
    return evaluated.isInterrupted || run.cpuTime + evaluated.cpuTime > limits.cpu ? 'timeout' : 'ready';
  }

  return {
    prepare(realms) {
      while (prepared.length < realms) prepared.push(createBareRealm());
    },
    load(artifact) {
      program = isolate.compileScriptSync(artifact, { filename: ARTIFACT_NAME_IN_STACK_TRACES });
    },
    createRealm,
    touch: flushPromiseJobs,
  };
}
