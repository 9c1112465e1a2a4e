import type { BuildContext, BuildOptions, BuildResult } from 'esbuild';
import { LoadFailure } from '../model.ts';

/** Milliseconds one package may take. Ordinary ones take a few; some scripts keep a parser busy for ever. */
const DEADLINE = 10_000;

/**
 * Runs esbuild on what a stranger wrote, for a limited time. It is a process beside this one: where it hangs or dies, it
 * is ended, and the next use starts another one. Loaded with the first package that needs it.
 */
export async function runBundler(options: BuildOptions): Promise<BuildResult> {
  isUsed = true;
  const esbuild = await import('esbuild');
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new LoadFailure('INVALID_ENTRY', 'The built entry takes too long to read; build it to plain JavaScript.'));
    }, DEADLINE);
  });
  let context: BuildContext | undefined;
  try {
    context = await esbuild.context(options);
    const result = await Promise.race([overdue, context.rebuild()]);
    await context.dispose();
    return result;
  } catch (error) {
    if (isBuildError(error)) {
      // A build that failed keeps what it has read as well; of a process that is ended nothing is left.
      await context?.dispose();
      throw error;
    }
    await esbuild.stop();
    if (error instanceof LoadFailure) throw error;
    throw new LoadFailure('INVALID_ENTRY', 'The built entry cannot be read; build it to plain JavaScript.', {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Ends the process, where one was started. */
export async function stopBundler(): Promise<void> {
  if (isUsed) await (await import('esbuild')).stop();
  isUsed = false;
}

let isUsed = false;

/** Errors in what was read, as against the end of the process that read it. */
const isBuildError = (error: unknown): error is { errors: readonly Message[] } =>
  error instanceof Error && Array.isArray((error as { errors?: unknown }).errors);

interface Message {
  readonly text: string;
  readonly location: { readonly file: string; readonly line: number } | null;
}

/** The errors of a build that failed over what it read, none for any other failure. */
export const listBuildErrors = (error: unknown): readonly Message[] => (isBuildError(error) ? error.errors : []);
