import { stat } from 'node:fs/promises';
import type { Log } from '#kernel';
import type { AppBundle, AppHalf, Built } from '../extensions/contract.ts';
import { LoadFailure, messagesOf } from '../extensions/library.ts';
import { type Chunks, compile } from './compile.ts';
import { entryText, type Part } from './entry.ts';

type Compile = (parts: readonly Part[]) => Promise<Chunks>;

export function createAppBundle(log: Pick<Log, 'error' | 'warn'>, compiled: Compile = compile): AppBundle {
  let chunks: Chunks = empty();
  let last: { readonly key: string; readonly built: Built } | undefined;

  async function build(halves: readonly AppHalf[]): Promise<Built> {
    const key = JSON.stringify(halves);
    if (last?.key === key && last.built.failed.size === 0 && !last.built.failure) return last.built;
    const failed = new Map<string, LoadFailure>();
    const parts = await present(halves, failed);
    let failure: LoadFailure | undefined;
    try {
      chunks = parts.length === 0 ? empty() : await together(parts, failed);
    } catch (error) {
      log.error({ err: error }, 'the extensions of the browser could not be bundled');
      failure = failureFor(error, 'the extensions cannot be bundled together');
    }
    last = { key, built: { failed, ...(failure ? { failure } : {}) } };
    return last.built;
  }

  /** All at once; where that fails, each is built alone to find the ones to leave out. */
  async function together(parts: readonly Part[], failed: Map<string, LoadFailure>): Promise<Chunks> {
    try {
      return await compiled(parts);
    } catch {
      const good: Part[] = [];
      for (const part of parts) {
        try {
          await compiled([part]);
          good.push(part);
        } catch (error) {
          log.error({ err: error, extension: part.name }, `${part.name} cannot be bundled for the browser`);
          failed.set(part.id, failureFor(error, 'its code for the browser cannot be bundled'));
        }
      }
      return good.length === 0 ? empty() : compiled(good);
    }
  }

  return {
    build,
    chunk: (name) => chunks.get(name),
  };
}

const empty = (): Chunks => new Map([['index.js', entryText([])]]);

async function present(halves: readonly AppHalf[], failed: Map<string, LoadFailure>): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const half of halves) {
    const { file } = half;
    if (file !== undefined && (await stat(file).catch(() => undefined))?.isFile()) {
      parts.push({ ...half, file });
    } else failed.set(half.id, new LoadFailure('ENTRYPOINT_NOT_FOUND', 'the built file for the browser is not there'));
  }
  return parts;
}

/** The bundler's own first sentence; where it was is in the log. */
function failureFor(error: unknown, what: string): LoadFailure {
  const first = messagesOf(error)[0]?.text;
  return new LoadFailure('BUNDLE_BUILD_FAILED', first === undefined ? what : `${what}: ${first}`, { cause: error });
}
