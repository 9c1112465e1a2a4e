import { fail } from '#kernel';
import type { SettingsValues } from '../../settings/contract.ts';
import { type Asked, readWishes, type Wishes } from './parameters.ts';

type Stored = Pick<SettingsValues, 'storage_asset_transform' | 'storage_asset_presets'>;

const builtIn = (width: number, cover: boolean): Wishes => ({
  width,
  ...(cover ? { height: width, fit: 'cover' } : { fit: 'contain' }),
  format: 'auto',
  transforms: [],
});

/** There whatever the settings say (specification, "Asset endpoints"). */
const BUILT_IN: ReadonlyMap<string, Wishes> = new Map(
  [['small', 64] as const, ['medium', 300] as const, ['large', 800] as const].flatMap(([size, width]) => [
    [`system-${size}-cover`, builtIn(width, true)] as const,
    [`system-${size}-contain`, builtIn(width, false)] as const,
  ]),
);

/** What is asked for, by a key or in so many words, where the policy in the settings allows it. */
export function granted(asked: Asked, settings: Stored, maxOperations: number): Wishes {
  const policy = settings.storage_asset_transform;
  if ('wishes' in asked) {
    if (policy !== 'all') throw fail('INVALID_QUERY', 'Images are transformed by presets only: name one with key.');
    return asked.wishes;
  }
  const { key } = asked;
  const wishes = BUILT_IN.get(key);
  if (wishes) return wishes;
  const preset = presetOf(key, settings.storage_asset_presets);
  if (!preset) throw fail('INVALID_QUERY', `There is no preset "${key}".`);
  if (policy !== 'all' && policy !== 'presets')
    throw fail('INVALID_QUERY', `The preset "${key}" may not be used: only those of the system may.`);
  return readWishes(preset, maxOperations, (problem) =>
    fail('INVALID_QUERY', `The preset "${key}" in the settings is wrong: ${problem}.`),
  );
}

/** Administrators write this by hand: anything may be in it. An empty text is what a form leaves where nothing is chosen. */
function presetOf(key: string, presets: unknown): Record<string, unknown> | undefined {
  if (!Array.isArray(presets)) return undefined;
  const found = presets.find((one) => typeof one === 'object' && one !== null && one.key === key);
  return found && Object.fromEntries(Object.entries(found).filter(([, value]) => value !== ''));
}
