import { errorEnvelope, Failure } from '#kernel';

/** What a page says about a failure: a sentence, and the field that it is about. */
export interface PageProblem {
  readonly text: string;
  /** The id of the field; undefined where it is about the whole form. */
  readonly field?: string;
}

/** Sentences by code, for persons who sign in. They say no more than the API does. */
const SENTENCES: Readonly<Record<string, string>> = {
  INVALID_CREDENTIALS: 'The e-mail address or the password is not right. Check both and try again.',
  INVALID_OTP: 'This code is not right, or it was used before. Wait for the next code of your app and try again.',
  INVALID_IP: 'Your account cannot sign in from this network. Ask an administrator.',
  INVALID_PROVIDER: 'Your account does not sign in this way. Choose the way you usually sign in.',
  USER_SUSPENDED: 'This account is not active. Ask an administrator.',
  TOKEN_EXPIRED: 'This took too long, and what you opened is not valid any more. Please start again.',
  INVALID_TOKEN: 'This link is not valid. Check that the address was opened as a whole.',
  FORBIDDEN: 'You are not allowed to do this.',
  ROUTE_NOT_FOUND: 'This is not available here.',
  INVALID_PAYLOAD: 'Something is missing or not right in the form. Check your entries.',
  FAILED_VALIDATION: 'Something in the form does not follow the rules of this project. Check your entries.',
  RECORD_NOT_UNIQUE: 'This was done before.',
  CONTENT_TOO_LARGE: 'The form is too large.',
  UNSUPPORTED_MEDIA_TYPE: 'The form could not be read.',
  OUT_OF_TIME: 'The form did not arrive in time. Please try again.',
  REQUESTS_EXCEEDED: 'There were too many attempts. Wait a little and try again.',
  SERVICE_UNAVAILABLE: 'The service is busy or not available at the moment. Try again in a minute.',
  INVALID_CONFIG: 'This is not set up. Ask an administrator.',
};
const UNEXPECTED = 'Something went wrong. Try again; if it happens again, tell an administrator.';

/** The sentence of a known code; undefined for any other text, so that an address cannot put words on a page. */
export const sentenceOf = (code: unknown): string | undefined =>
  typeof code === 'string' && Object.hasOwn(SENTENCES, code) ? SENTENCES[code] : undefined;

/** The code of an error, as a client sees it. */
export const codeOf = (error: unknown): string =>
  String(errorEnvelope(error, { admin: false }).body.errors[0]?.extensions.code);

export const statusOf = (error: unknown): number => errorEnvelope(error, { admin: false }).status;

/** What a page says about an error. `special`: sentences of this page by code. */
export function problemOf(error: unknown, special: Readonly<Record<string, PageProblem>> = {}): PageProblem {
  const code = codeOf(error);
  if (Object.hasOwn(special, code)) return special[code] as PageProblem;
  const text = sentenceOf(code) ?? UNEXPECTED;
  const { retryAfter, reset } = error instanceof Failure ? error.extensions : {};
  const seconds = Number(retryAfter) || Math.ceil((Date.parse(String(reset)) - Date.now()) / 1000);
  return { text: seconds > 1 ? `${text} The next attempt is possible in ${seconds} seconds.` : text };
}
