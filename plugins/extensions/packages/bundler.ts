import type { BuildContext, BuildOptions, BuildResult } from 'esbuild';
import { LoadFailure } from '../extension-types.ts';

/** Milliseconds for one build. An ordinary one takes a few; a hostile script may keep the parser busy for ever. */
const DEADLINE = 10_000;

/**
 * Runs esbuild on third-party code with a deadline. esbuild is a separate process: if it hangs or dies, this function
 * ends it, and the next build starts another one. The module is loaded with the first package that needs it.
 */
export async function runEsbuildWithDeadline(options: BuildOptions): Promise<BuildResult> {
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
      // A failed build keeps its memory until it is disposed; an ended process needs no disposal.
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

/** Ends the esbuild process, if one was started. */
export async function stopBundler(): Promise<void> {
  if (isUsed) await (await import('esbuild')).stop();
  isUsed = false;
}

let isUsed = false;

/** Whether esbuild reported errors in the code, rather than hung or died. */
const isBuildError = (error: unknown): error is { errors: readonly Message[] } =>
  error instanceof Error && Array.isArray((error as { errors?: unknown }).errors);

interface Message {
  readonly text: string;
  readonly location: { readonly file: string; readonly line: number } | null;
}

/** The errors that esbuild reported; empty for any other failure. */
export const listBuildErrors = (error: unknown): readonly Message[] => (isBuildError(error) ? error.errors : []);
