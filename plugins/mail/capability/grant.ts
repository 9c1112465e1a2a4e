import type { Capability } from '#kernel';

/** The grant in a manifest: the domains of recipients, `*` for any, and the most recipients an hour over all processes. */
export interface MailGrant {
  readonly domains: readonly string[];
  readonly perHour: number;
}

const ANY_DOMAIN = '*';

const DOMAIN = '^(?:\\*|(?!-)[A-Za-z0-9\\u0080-\\uffff-]{1,63}(?:\\.[A-Za-z0-9\\u0080-\\uffff-]{1,63})*)$';

export const mailGrantSchema: Capability['schema'] = {
  type: 'object',
  description: 'an object with a list of "domains" and a number "perHour"',
  additionalProperties: false,
  required: ['domains', 'perHour'],
  properties: {
    domains: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', maxLength: 253, pattern: DOMAIN, description: 'a domain such as example.com, or *' },
    },
    perHour: { type: 'integer', minimum: 1, maximum: 10_000 },
  },
};

/** The granted domains in their ASCII form and lower case, each once, sorted. */
export const listGrantedDomains = ({ domains }: MailGrant): readonly string[] =>
  [...new Set(domains.map((one) => (one === ANY_DOMAIN ? one : (URL.parse(`http://${one}`)?.hostname ?? one))))].sort();

export const isGrantedDomain = (granted: readonly string[], domain: string): boolean =>
  granted.includes(ANY_DOMAIN) || granted.includes(domain);

/** Whether `after` allows a domain or a number that `before` does not. */
export function mailGrantWidens(before: MailGrant | undefined, after: MailGrant): boolean {
  if (!before) return true;
  const had = listGrantedDomains(before);
  return after.perHour > before.perHour || listGrantedDomains(after).some((one) => !isGrantedDomain(had, one));
}
