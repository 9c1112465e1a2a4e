import { fail } from '#kernel';
import type { FlowOperationKind } from '../contract.ts';
import { parseJsonOption, textOption } from './option-values.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Algorithms by a shared secret, and by a key in PEM. Without the split a public key could be taken for a secret. */
const BY_SECRET = ['HS256', 'HS384', 'HS512'] as const;
const BY_KEY = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'] as const;

/** `json-web-token`: signs `payload`, or verifies or decodes `token`. */
export const jsonWebTokenOperation: FlowOperationKind = {
  id: 'json-web-token',
  trial: 'run',
  secretOptions: ['secret'],
  async run(options) {
    const { default: jwt } = await import('jsonwebtoken');
    const { operation, payload, token, secret } = options;
    const requested = parseJsonOption(options.options, 'options') ?? {};
    if (!isObject(requested)) throw fail('INVALID_PAYLOAD', '"options" must be an object');
    if (operation === 'decode') return jwt.decode(textOption(token, 'token'), requested);
    const key = textOption(secret, 'secret');
    if (operation === 'verify') {
      const fitting: readonly string[] = key.includes('-----BEGIN') ? BY_KEY : BY_SECRET;
      const algorithmNames = Array.isArray(requested.algorithms) ? requested.algorithms : fitting;
      const algorithms = algorithmNames.filter((one) => fitting.includes(one));
      return jwt.verify(textOption(token, 'token'), key, {
        ...requested,
        complete: false,
        algorithms: algorithms as never,
      });
    }
    if (operation !== 'sign') throw fail('INVALID_PAYLOAD', '"operation" must be sign, verify or decode');
    const content = parseJsonOption(payload, 'payload');
    if (!isObject(content)) throw fail('INVALID_PAYLOAD', '"payload" must be an object');
    return jwt.sign(content, key, requested);
  },
};
