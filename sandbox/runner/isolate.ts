import type IsolatedVm from 'isolated-vm';
import type { Limits } from '../protocol/messages.ts';
import { ARTIFACT } from '../protocol/messages.ts';
import { surplus } from './language.ts';
import { OP } from './ops.ts';
import { createStretches, type Enter, type Stretch } from './stretch.ts';

/** The text of `guest/`, put in when the runner is bundled. */
declare const PRELUDE: string;

export type Ivm = typeof IsolatedVm;

/** A context with our prelude and the artifact in it. */
export interface Room {
  /** What evaluating the artifact in it came to. */
  readonly state: 'ready' | 'timeout' | 'broken';
  /** Runs guest code for at most `time` milliseconds, and all the promise jobs that follow. */
  enter(op: number, id: number, key: number, text: string, more: string | number, time: number): Stretch;
  /** What the guest has to say, oldest first; see `guest/outbox.ts`. Runs none of its code. */
  fetch(): string | undefined;
  leave(): void;
}

/** Makes rooms for one artifact, in one isolate. */
export interface Isolate {
  /** Makes what a number of rooms need before their artifact. */
  prepare(rooms: number): void;
  /** The artifact of all rooms from now on. Throws where it cannot be compiled. */
  load(artifact: string): void;
  /** Evaluates the artifact; the first thing a room says is its contract where `describe`. */
  room(describe: boolean): Room;
  /** Returns once the isolate has done something of ours. */
  touch(): void;
}

/** A context with our prelude in it, before anything foreign. */
interface Bare {
  readonly context: IsolatedVm.Context;
  readonly enter: Enter;
}

export function makeIsolate(ivm: Ivm, limits: Limits): Isolate {
  // No `onCatastrophicError`: it would be told on this thread, which is the one that hangs. Without it the process aborts.
  const isolate = new ivm.Isolate({ memoryLimit: Math.max(8, Math.floor(limits.memory / 2 ** 20)), inspector: false });
  const idle = isolate.createContextSync();
  const facts = [
    Number(limits.hostCall),
    Number(limits.result),
    JSON.stringify(surplus((text) => idle.evalSync(text))),
  ];
  const prelude = isolate.compileScriptSync(`${PRELUDE}(${facts})`);
  const rest = idle.evalSync('() => {}', { reference: true }) as unknown as Enter;
  const { stretch, settle } = createStretches(isolate, rest, limits);
  const prepared: Bare[] = [];
  let program: IsolatedVm.Script | undefined;

  function bare(): Bare {
    const context = isolate.createContextSync();
    return { context, enter: prelude.runSync(context, { reference: true }) as unknown as Enter };
  }

  function room(describe: boolean): Room {
    const { context, enter } = prepared.pop() ?? bare();
    const state = evaluate(context, enter, describe);
    let left = false;
    return {
      state,
      enter: (op, id, key, text, more, time) =>
        stretch(time, (options) => enter.applySync(undefined, [op, id, key, text, more], options)),
      fetch: () => enter.applySync(undefined, [OP.fetch, 0, 0, '', 0]) as string | undefined,
      leave() {
        if (left) return;
        left = true;
        enter.release();
        context.release();
      },
    };
  }

  function evaluate(context: IsolatedVm.Context, enter: Enter, describe: boolean): Room['state'] {
    let artifactFunction: IsolatedVm.Reference | undefined;
    // A reference, since anything else would make the library look at the value with the guest's own getters.
    const run = stretch(limits.cpu, (options) => {
      artifactFunction = program?.runSync(context, { ...options, reference: true }) as unknown as IsolatedVm.Reference;
    });
    if (run.late) return 'timeout';
    if (artifactFunction?.typeof !== 'function') {
      artifactFunction?.release();
      return 'broken';
    }
    const exported = artifactFunction.derefInto({ release: true });
    const evaluated = stretch(limits.cpu - run.used, (options) => {
      enter.applySync(undefined, [OP.evaluate, 0, describe ? 1 : 0, '', exported], options);
    });
    return evaluated.late || run.used + evaluated.used > limits.cpu ? 'timeout' : 'ready';
  }

  return {
    prepare(rooms) {
      while (prepared.length < rooms) prepared.push(bare());
    },
    load(artifact) {
      program = isolate.compileScriptSync(artifact, { filename: ARTIFACT });
    },
    room,
    touch: settle,
  };
}
