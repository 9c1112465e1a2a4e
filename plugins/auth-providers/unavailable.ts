import { type ErrorCode, Failure, fail } from '#kernel';

/**
 * A failure of a provider. Any client can cause it and reads the message, so what names hosts and settings is its cause, which is logged.
 */
export const createProviderFailure = (
  code: Extract<ErrorCode, 'SERVICE_UNAVAILABLE' | 'INVALID_CONFIG'>,
  message: string,
  reason: string,
): Failure => Object.assign(fail(code, message), { cause: new Error(reason) });

/** What an administrator has to know of an error: its detail, and the messages of its causes. */
export function reasonOf(error: unknown): string {
  const texts: string[] = [];
  for (let at = error; at instanceof Error && texts.length < 5; at = at.cause)
    texts.push((at instanceof Failure ? at.detail : undefined) ?? at.message);
  return texts.length > 0 ? texts.join(' ') : String(error);
}
