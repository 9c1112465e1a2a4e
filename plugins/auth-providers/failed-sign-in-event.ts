import { type Caller, type EventsApi, errorEnvelope } from '#kernel';

/**
 * Runs the part of a sign-in before its session is opened. If it fails, the action `auth.login` has the error that the client receives,
 * as for credentials; failures after that are announced by `auth`.
 */
export async function withFailedSignInEvent<T>(
  events: Pick<EventsApi, 'action'>,
  about: { readonly caller: Caller; readonly provider: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const [first] = errorEnvelope(error, { admin: false }).body.errors;
    const shown = { message: first?.message, code: first?.extensions.code };
    events.action(['auth.login'], { ...about, user: undefined, status: 'fail', payload: {}, error: shown });
    throw error;
  }
}
