import type IsolatedVm from 'isolated-vm';
import type { Limits } from '../protocol/messages.ts';
import { surplus } from './language.ts';
import { OP } from './ops.ts';

/** The text of `guest/`, put in when the runner is bundled. */
declare const PRELUDE: string;

export type Ivm = typeof IsolatedVm;
type Enter = IsolatedVm.Reference<(...args: unknown[]) => string | undefined>;

/** How one stretch of guest code went. `used`: milliseconds of CPU. */
export interface Stretch {
  readonly used: number;
  /** It was interrupted: its room must be left and never entered again. */
  readonly late: boolean;
}

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

/** The isolate has gone over its memory limit. Nothing can be done in this process any more. */
export class IsolateLost extends Error {}

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
  const prepared: Bare[] = [];
  let program: IsolatedVm.Script | undefined;

  /**
   * Runs what may run guest code, and says how that went. What the guest throws is of no interest to anybody. The time is
   * a limit of wall-clock time; the account is of CPU. Outside of the limit the library reads `message` and `stack` of a
   * promise that was rejected beside: a getter there can hang this process, which the host ends at its own deadline.
   */
  function stretch(time: number, work: (options: { timeout: number }) => void): Stretch {
    const timeout = quantum(time, limits.cpu);
    const started = performance.now();
    const cpu = cpuTime();
    let failed = false;
    try {
      work({ timeout });
    } catch {
      failed = true;
      if (isolate.isDisposed) throw new IsolateLost();
    }
    const elapsed = performance.now() - started;
    // A text of the guest's could claim a timeout, the clock cannot. Where the guest threw just now, it is late as well.
    const late = failed && elapsed >= timeout - 1;
    if (late) settle();
    return { used: Math.min(elapsed, cpuTime() - cpu), late };
  }

  /**
   * Promise jobs that an interrupted stretch left behind would run inside of the next one, on the account of somebody
   * else. They run now, shortly, and are dropped by the engine where they do not come to an end.
   */
  function settle(): void {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        rest.applySync(undefined, [], { timeout: 1 });
        return;
      } catch {
        if (isolate.isDisposed) throw new IsolateLost();
      }
    }
  }

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
      program = isolate.compileScriptSync(artifact);
    },
    room,
    touch: settle,
  };
}

/**
 * What is left, rounded up to quarters of the whole: the library keeps a thread for every time that ends before those it
 * is already waiting for, and so needs few of them.
 */
function quantum(time: number, whole: number): number {
  const quarter = whole / 4;
  return Math.max(1, Math.ceil(Math.max(1, Math.ceil(time / quarter)) * quarter));
}

/** Milliseconds of CPU this thread has used. The library's own count is of wall-clock time on most systems. */
function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
