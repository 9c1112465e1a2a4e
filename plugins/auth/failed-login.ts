import { type Caller, type EventsApi, envelope } from '#kernel';

/** What listeners of `auth.login` are told of a sign-in, beside its outcome. */
export interface LoginMeta {
  readonly caller: Caller;
  /** The id of the user whom the credentials name; undefined where they name none. */
  readonly user: string | undefined;
  readonly provider: string | undefined;
}

/** Runs a sign-in. Where it fails, listeners learn what the client is told, and no more. */
export async function tellFailedLogin<T>(
  events: Pick<EventsApi, 'action'>,
  about: LoginMeta,
  payload: object,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const [first] = envelope(error, { admin: false }).body.errors;
    const shown = { message: first?.message, code: first?.extensions.code };
    events.action(['auth.login'], { ...about, status: 'fail', payload, error: shown });
    throw error;
  }
}
