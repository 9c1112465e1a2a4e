import type { ProviderFinding, ProviderKey, ProviderSettings } from '../contract.ts';

/** Shorter texts would be found in ordinary words. */
const MIN_LENGTH = 4;

/** Takes the secrets of a provider out of findings: the driver of a third-party package may repeat what its provider answers. */
export async function createRedaction(
  settings: ProviderSettings,
  keys: Readonly<Record<string, ProviderKey>>,
): Promise<(finding: ProviderFinding) => ProviderFinding> {
  const secrets: (readonly [secret: string, name: string])[] = [];
  for (const [key, { secret }] of Object.entries(keys)) {
    const text = secret ? await settings.secret(key).catch(() => undefined) : undefined;
    // Long ones, such as keys, are repeated line by line.
    for (const line of text?.split(/\r?\n/) ?? [])
      if (line.length >= MIN_LENGTH && !line.startsWith('-----')) secrets.push([line, settings.variableOf(key)]);
  }
  const redact = (text: string): string => secrets.reduce((all, [one, name]) => all.replaceAll(one, `[${name}]`), text);
  return ({ check, status, text, remedy }) => ({
    check: redact(check),
    status,
    text: redact(text),
    ...(remedy === undefined ? {} : { remedy: redact(remedy) }),
  });
}
