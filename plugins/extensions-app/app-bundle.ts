import { stat } from 'node:fs/promises';
import type { Log } from '#kernel';
import type { ExtensionAppBuildResult, ExtensionAppBundle, ExtensionAppPart } from '../extensions/contract.ts';
import { LoadFailure, listBuildErrors } from '../extensions/library.ts';
import { type BuildableAppPart, renderAppEntryModule } from './app-entry-module.ts';
import { bundleAppParts, type ChunkTexts } from './app-part-bundler.ts';

type CompileHalves = (parts: readonly BuildableAppPart[]) => Promise<ChunkTexts>;

export function createExtensionAppBundle(
  log: Pick<Log, 'error' | 'warn'>,
  compileChunks: CompileHalves = bundleAppParts,
): ExtensionAppBundle {
  let chunks: ChunkTexts = createEmptyChunks();
  let last: { readonly key: string; readonly built: ExtensionAppBuildResult } | undefined;

  async function build(halves: readonly ExtensionAppPart[]): Promise<ExtensionAppBuildResult> {
    const key = JSON.stringify(halves);
    if (last?.key === key && last.built.failed.size === 0 && !last.built.failure) return last.built;
    const failed = new Map<string, LoadFailure>();
    const parts = await selectBuildable(halves, failed);
    let failure: LoadFailure | undefined;
    try {
      chunks = parts.length === 0 ? createEmptyChunks() : await buildTogether(parts, failed);
    } catch (error) {
      log.error({ err: error }, 'the browser code of extensions could not be bundled');
      failure = toLoadFailure(error, 'the extensions cannot be bundled together');
    }
    last = { key, built: { failed, ...(failure ? { failure } : {}) } };
    return last.built;
  }

  /**
   * Bundles the browser code of all extensions together. If that fails, bundles each extension alone, and then those that
   * succeeded.
   */
  async function buildTogether(
    parts: readonly BuildableAppPart[],
    failed: Map<string, LoadFailure>,
  ): Promise<ChunkTexts> {
    try {
      return await compileChunks(parts);
    } catch {
      const good: BuildableAppPart[] = [];
      for (const part of parts) {
        try {
          await compileChunks([part]);
          good.push(part);
        } catch (error) {
          log.error({ err: error, extension: part.name }, `${part.name} cannot be bundled for the browser`);
          failed.set(part.id, toLoadFailure(error, 'its code for the browser cannot be bundled'));
        }
      }
      return good.length === 0 ? createEmptyChunks() : compileChunks(good);
    }
  }

  return {
    build,
    chunk: (name) => chunks.get(name),
  };
}

const createEmptyChunks = (): ChunkTexts => new Map([['index.js', renderAppEntryModule([])]]);

async function selectBuildable(
  halves: readonly ExtensionAppPart[],
  failed: Map<string, LoadFailure>,
): Promise<readonly BuildableAppPart[]> {
  const parts: BuildableAppPart[] = [];
  for (const half of halves) {
    const { file } = half;
    if (file !== undefined && (await stat(file).catch(() => undefined))?.isFile()) {
      parts.push({ ...half, file });
    } else failed.set(half.id, new LoadFailure('ENTRYPOINT_NOT_FOUND', 'the built file for the browser is not there'));
  }
  return parts;
}

/** The first error of the bundler; the log has its position. */
function toLoadFailure(error: unknown, what: string): LoadFailure {
  const first = listBuildErrors(error)[0]?.text;
  return new LoadFailure('BUNDLE_BUILD_FAILED', first === undefined ? what : `${what}: ${first}`, { cause: error });
}
