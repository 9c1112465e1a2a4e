import { fail } from '#kernel';
import { PROCESS } from './limits.ts';
import { type Answer, type Job, type Renderer, startRenderer } from './renderer.ts';

export interface Pool {
  /** SERVICE_UNAVAILABLE where too many wait, where no process comes up, and after `stop`. */
  render(job: Job): Promise<Answer>;
  stop(): void;
}

interface Kept {
  readonly renderer: Renderer;
  readonly timer: NodeJS.Timeout;
}

/** A few processes, started when they are needed and ended when they are not; who comes first is served first. */
export function createPool(): Pool {
  const idle: Kept[] = [];
  const all = new Set<Renderer>();
  const waiting: ((isServed: boolean) => void)[] = [];
  let busy = 0;
  let stopped = false;

  const unavailable = (why: string) => fail('SERVICE_UNAVAILABLE', `templates cannot be rendered now: ${why}`);

  /** Resolves when one of the places is free. */
  async function enter(): Promise<void> {
    if (stopped) throw unavailable('the service stops');
    if (busy < PROCESS.count) {
      busy++;
      return;
    }
    if (waiting.length >= PROCESS.queue) throw unavailable('too many wait');
    if (!(await new Promise<boolean>((resolve) => waiting.push(resolve)))) throw unavailable('the service stops');
  }

  /** Hands the place on. */
  function leave(): void {
    const next = waiting.shift();
    if (next) next(true);
    else busy--;
  }

  function take(): Renderer {
    for (let kept = idle.pop(); kept; kept = idle.pop()) {
      clearTimeout(kept.timer);
      if (kept.renderer.isAlive()) return kept.renderer;
      all.delete(kept.renderer);
    }
    const renderer = startRenderer();
    all.add(renderer);
    return renderer;
  }

  function drop(renderer: Renderer): void {
    all.delete(renderer);
    renderer.end();
  }

  function keep(renderer: Renderer): void {
    if (stopped || !renderer.isAlive()) {
      drop(renderer);
      return;
    }
    const timer = setTimeout(() => {
      idle.splice(
        idle.findIndex((one) => one.renderer === renderer),
        1,
      );
      drop(renderer);
    }, PROCESS.idle);
    idle.push({ renderer, timer: timer.unref() });
  }

  return {
    async render(job) {
      await enter();
      const renderer = take();
      try {
        const answer = await renderer.render(job);
        if (stopped) throw unavailable('the service stops');
        return answer;
      } catch (error) {
        renderer.end();
        throw error instanceof Error && error.name === 'Failure' ? error : unavailable('no process');
      } finally {
        keep(renderer);
        leave();
      }
    },
    stop() {
      stopped = true;
      for (const { timer } of idle.splice(0)) clearTimeout(timer);
      for (const renderer of all) renderer.end();
      all.clear();
      for (const refuse of waiting.splice(0)) refuse(false);
    },
  };
}
