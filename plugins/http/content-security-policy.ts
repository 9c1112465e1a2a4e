import { BootFailure } from '#kernel';

/** Sources that an admin adds to the policies of the service, by directive. */
export type PolicyAdditions = ReadonlyMap<string, readonly string[]>;

/** Directives of Content Security Policy Level 3 that have a list, and what a fetch directive falls back to where a policy lacks it. */
const FALLBACKS: Readonly<Record<string, readonly string[]>> = {
  'default-src': [],
  'base-uri': [],
  'form-action': [],
  'frame-ancestors': [],
  'report-to': [],
  'report-uri': [],
  'child-src': ['default-src'],
  'connect-src': ['default-src'],
  'font-src': ['default-src'],
  'frame-src': ['child-src', 'default-src'],
  'img-src': ['default-src'],
  'manifest-src': ['default-src'],
  'media-src': ['default-src'],
  'object-src': ['default-src'],
  'script-src': ['default-src'],
  'script-src-attr': ['script-src', 'default-src'],
  'script-src-elem': ['script-src', 'default-src'],
  'style-src': ['default-src'],
  'style-src-attr': ['style-src', 'default-src'],
  'style-src-elem': ['style-src', 'default-src'],
  'worker-src': ['child-src', 'script-src', 'default-src'],
};
const NONE = "'none'";

/**
 * Parses the settings of a pattern such as `CONTENT_SECURITY_POLICY_DIRECTIVES__*`: `…__IMG_SRC=https://images.example.com data:`.
 * Sources are separated by spaces or commas. @throws BootFailure for an unknown directive and for sources that would end it.
 */
export function parsePolicyAdditions(
  owner: string,
  prefix: string,
  settings: Readonly<Record<string, string>>,
): PolicyAdditions {
  return new Map(
    Object.entries(settings).map(([name, text]) => {
      const directive = name.slice(prefix.length).toLowerCase().replaceAll('_', '-');
      if (!Object.hasOwn(FALLBACKS, directive)) {
        throw createConfigFailure(owner, `${name} names no directive of a Content-Security-Policy with sources`, [
          `name one of ${Object.keys(FALLBACKS).map(toVariablePart).join(', ')} behind ${prefix}`,
        ]);
      }
      const sources = text.split(/[\s,]+/).filter(Boolean);
      if (!sources.every((one) => /^[\x21-\x7e]+$/.test(one) && !one.includes(';'))) {
        throw createConfigFailure(owner, `${name} has a source with characters that no source has`, [
          'separate sources by spaces, and write names of other scripts as browsers send them (punycode)',
        ]);
      }
      return [directive, sources] as const;
    }),
  );
}

const toVariablePart = (directive: string): string => directive.toUpperCase().replaceAll('-', '_');

const createConfigFailure = (owner: string, reason: string, [remedy]: readonly [string]) =>
  new BootFailure(owner, 'config', reason, { remedy });

/**
 * Adds sources to a policy. A directive that the policy lacks begins with the sources that browsers use in its place; `'none'` is dropped
 * from a directive that gets other sources, and stands alone where an admin adds it.
 */
export function addPolicySources(policy: string, additions: PolicyAdditions): string {
  if (additions.size === 0) return policy;
  const directives = new Map(
    policy.split(';').map((text) => {
      const [name = '', ...sources] = text.trim().split(/\s+/);
      return [name, sources] as const;
    }),
  );
  // All additions start from the policy as it is: `script-src-elem` is not to repeat what was just added to `script-src`.
  const before = new Map(directives);
  for (const [name, sources] of additions) {
    const inherited = [name, ...(FALLBACKS[name] as readonly string[])].find((one) => before.has(one));
    const own = inherited === undefined ? [] : (before.get(inherited) as readonly string[]);
    const all = [...new Set([...own, ...sources])];
    directives.set(name, sources.includes(NONE) ? [NONE] : all.filter((one) => one !== NONE));
  }
  return [...directives].map(([name, sources]) => [name, ...sources].join(' ')).join('; ');
}

/** Whether pages of other sites may show documents in frames because an admin added to `frame-ancestors`. */
export const allowsFrames = (additions: PolicyAdditions): boolean =>
  (additions.get('frame-ancestors') ?? [NONE]).some((source) => source !== NONE);

/** Policies with what an admin adds. The pages of the service have few, so each is made once. */
export function createPolicyAdder(additions: PolicyAdditions): (policy: string) => string {
  if (additions.size === 0) return (policy) => policy;
  const known = new Map<string, string>();
  return (policy) => {
    const extended = known.get(policy) ?? addPolicySources(policy, additions);
    if (known.size < MAX_KNOWN) known.set(policy, extended);
    return extended;
  };
}

/** What extensions embed changes the policy of a page; after this many the policy is made for each response. */
const MAX_KNOWN = 200;
