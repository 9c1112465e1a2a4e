import { Refusal, type Secrets } from '#kernel';
import type { OutboundResponse, SendAnswer } from '../contract.ts';
import { MAX_MESSAGE } from './message.ts';

const TOO_LONG = 'The answer is too long.';
/** Deeper JSON stays text: it is nothing that one would read member by member. */
const MAX_DEPTH = 200;

/** What the other side answered, without the secrets it was sent. JSON is parsed where it is called so. */
export function answerOf({ status, headers, body }: OutboundResponse, secrets: Secrets): SendAnswer {
  const clean = Object.entries(headers).map(([name, value]) => [secrets.scrub(name), secrets.scrub(value)]);
  const answer = {
    status,
    headers: Object.fromEntries(clean) as Record<string, string>,
    body: bodyOf(new TextDecoder().decode(body), headers['content-type'] ?? '', secrets),
  };
  if (Buffer.byteLength(JSON.stringify(answer)) > MAX_MESSAGE) throw new Refusal('invalid_request', TOO_LONG);
  return answer;
}

function bodyOf(text: string, type: string, secrets: Secrets): unknown {
  if (/^\s*(?:application|text)\/(?:[\w.+-]{1,100}\+)?json\s*(?:;|$)/i.test(type)) {
    try {
      // Once parsed, since a secret may be written in JSON in another way than it is.
      return scrubbed(JSON.parse(text), secrets, 0);
    } catch {
      // Then it is a text like any other.
    }
  }
  return secrets.scrub(text);
}

function scrubbed(value: unknown, secrets: Secrets, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new Error('too deep');
  if (typeof value === 'string') return secrets.scrub(value);
  if (typeof value === 'number') {
    const text = String(value);
    const clean = secrets.scrub(text);
    return clean === text ? value : clean;
  }
  if (Array.isArray(value)) return value.map((one) => scrubbed(one, secrets, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [secrets.scrub(key), scrubbed(one, secrets, depth + 1)]),
  );
}
