import { type Caller, type EventsApi, errorEnvelope } from '#kernel';

/** What listeners of `auth.login` receive, beside the outcome. */
export interface LoginMeta {
  readonly caller: Caller;
  /** The id of the user whom the credentials name; undefined where they name none. */
  readonly user: string | undefined;
  readonly provider: string | undefined;
}

/** Runs a sign-in. If it fails, the action `auth.login` has the error that the client receives, and no details. */
export async function withFailedLoginEvent<T>(
  events: Pick<EventsApi, 'action'>,
  about: LoginMeta,
  payload: object,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const [first] = errorEnvelope(error, { admin: false }).body.errors;
    const shown = { message: first?.message, code: first?.extensions.code };
    events.action(['auth.login'], { ...about, status: 'fail', payload, error: shown });
    throw error;
  }
}
