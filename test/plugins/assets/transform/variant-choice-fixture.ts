import { createImageVariantService, type ImageTransformConfig } from '../../../../plugins/assets/transform/index.ts';
import type { SettingsValues } from '../../../../plugins/settings/contract.ts';

type Variants = ReturnType<typeof createImageVariantService>;
type FileRecord = Parameters<Variants['choose']>[0];
type VariantChoice = Awaited<ReturnType<Variants['choose']>>;

export const TRANSFORM_CONFIG: ImageTransformConfig = {
  ASSETS_TRANSFORM_MAX_OPERATIONS: 5,
  ASSETS_TRANSFORM_MAX_CONCURRENT: 25,
  ASSETS_TRANSFORM_IMAGE_MAX_DIMENSION: 6000,
  ASSETS_TRANSFORM_IMAGE_MAX_OUTPUT_DIMENSION: 6000,
  ASSETS_TRANSFORM_TIMEOUT: 7500,
  ASSETS_INVALID_IMAGE_SENSITIVITY_LEVEL: 'warning',
};

export const JPEG_FILE_RECORD: FileRecord = {
  id: '6e1f7f2e-0b5a-4d6b-9a53-3f3f1f0c7b11',
  storage: 'local',
  filename_disk: '6e1f7f2e-0b5a-4d6b-9a53-3f3f1f0c7b11.jpg',
  filename_download: 'beach.jpg',
  type: 'image/jpeg',
  detected_type: 'image/jpeg',
  charset: null,
  filesize: 1000,
  width: 400,
  height: 300,
  duration: null,
  modified_on: null,
  focal_point_x: null,
  focal_point_y: null,
};

export const createFileRecord = (changes: Partial<FileRecord>): FileRecord => ({ ...JPEG_FILE_RECORD, ...changes });

export type TransformPolicySettings = Partial<Pick<SettingsValues, 'storage_asset_transform'>> & {
  readonly storage_asset_presets?: unknown;
};

export type ChooseVariant = (
  query: Record<string, unknown>,
  about?: { readonly file?: Partial<FileRecord>; readonly accept?: string; readonly policy?: TransformPolicySettings },
) => Promise<VariantChoice>;

/** Returns `choose` of the asset variants, which needs settings only: storage, bus and media are fakes that throw. */
export function createVariantChooser(config: Partial<ImageTransformConfig> = {}): ChooseVariant {
  const nothing = () => {
    throw new Error('choosing touches nothing but the settings');
  };
  return (query, { file: changes = {}, accept, policy = {} } = {}) => {
    const settings = { storage_asset_transform: 'all', storage_asset_presets: null, ...policy };
    const variants = createImageVariantService({
      config: { ...TRANSFORM_CONFIG, ...config },
      settings: { current: async () => settings as SettingsValues },
      bus: {
        publish: async () => nothing(),
        subscribe() {},
        onReconnect() {},
        onLost() {},
        waitForConfirmation: async () => {},
      },
      storage: { locations: ['local'], at: nothing },
      media: { inspect: nothing, transform: nothing, pending: 0 },
      lock: { run: nothing, attempt: nothing },
      db: { read() {}, sql() {} } as never,
      log: {} as never,
    });
    return variants.choose(createFileRecord(changes), query, accept);
  };
}
