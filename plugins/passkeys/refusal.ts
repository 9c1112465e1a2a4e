import { type ErrorCode, Failure, fail } from '#kernel';

/** Characters of a reason, which may repeat what the client sent. */
const MAX_REASON = 300;

/** Runs checks of a response that the client sent. Errors that are no Failure say what is wrong with it: they become `code`. */
export async function refuseWith<T>(code: ErrorCode, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw fail(code, (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON));
  }
}
