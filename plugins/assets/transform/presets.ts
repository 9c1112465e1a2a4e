import { fail } from '#kernel';
import type { SettingsValues } from '../../settings/contract.ts';
import { type ImageTransformParameters, type ImageTransformRequest, parseTransformParameters } from './parameters.ts';

type PresetSettings = Pick<SettingsValues, 'storage_asset_transform' | 'storage_asset_presets'>;

const builtIn = (width: number, cover: boolean): ImageTransformParameters => ({
  width,
  ...(cover ? { height: width, fit: 'cover' } : { fit: 'contain' }),
  format: 'auto',
  transforms: [],
});

/** Presets that exist whatever the settings say (specification, "Asset endpoints"). */
const BUILT_IN: ReadonlyMap<string, ImageTransformParameters> = new Map(
  [['small', 64] as const, ['medium', 300] as const, ['large', 800] as const].flatMap(([size, width]) => [
    [`system-${size}-cover`, builtIn(width, true)] as const,
    [`system-${size}-contain`, builtIn(width, false)] as const,
  ]),
);

/**
 * The transform parameters of a request, from a preset or from the query, if the policy of the settings allows them.
 * @throws INVALID_QUERY
 */
export function resolveImageTransformParameters(
  request: ImageTransformRequest,
  settings: PresetSettings,
  maxOperations: number,
): ImageTransformParameters {
  const policy = settings.storage_asset_transform;
  if ('parameters' in request) {
    if (policy !== 'all') throw fail('INVALID_QUERY', 'Images are transformed by presets only: name one with key.');
    return request.parameters;
  }
  const { key } = request;
  const builtInParameters = BUILT_IN.get(key);
  if (builtInParameters) return builtInParameters;
  const preset = findPreset(key, settings.storage_asset_presets);
  if (!preset) throw fail('INVALID_QUERY', `There is no preset "${key}".`);
  if (policy !== 'all' && policy !== 'presets')
    throw fail('INVALID_QUERY', `The preset "${key}" may not be used: only those of the system may.`);
  return parseTransformParameters(preset, maxOperations, (problem) =>
    fail('INVALID_QUERY', `The preset "${key}" in the settings is wrong: ${problem}.`),
  );
}

/** Admins write presets by hand, so any value is possible. A form leaves an empty text where nothing is chosen. */
function findPreset(key: string, presets: unknown): Record<string, unknown> | undefined {
  if (!Array.isArray(presets)) return undefined;
  const found = presets.find((one) => typeof one === 'object' && one !== null && one.key === key);
  return found && Object.fromEntries(Object.entries(found).filter(([, value]) => value !== ''));
}
