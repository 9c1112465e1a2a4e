import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PUBLIC_ROLE_ID } from '../../plugins/access/contract.ts';
import { type AssetStorageFixture, createAssetStorageFixture } from '../../test/http/asset-storage-fixture.ts';
import { requestAsAdmin } from '../../test/http/test-users.ts';
import type { FreshDatabase } from '../../test/support/database.ts';
import { type SpawnedService, spawnService } from '../../test/support/service.ts';
import { type ForkedServer, forkServer } from '../bench/fork-server.ts';
import { cpuProfileFlags } from '../bench/service-process.ts';
import { createPhotoLikeJpeg } from './picture.ts';

export interface AssetBenchServers {
  readonly service: SpawnedService;
  readonly bare: ForkedServer;
  readonly ground: AssetStorageFixture;
  /** The folder whose files the bare server serves. */
  readonly folder: string;
  /** The picture from which all variants are made. */
  readonly picture: { readonly id: string; readonly path: string };
  stop(): Promise<void>;
}

/** Starts the service with one picture that the Public role may read, and a static file server to compare it with. */
export async function startAssetBenchServers(
  database: FreshDatabase,
  profile: string | undefined,
): Promise<AssetBenchServers> {
  const ground: AssetStorageFixture = await createAssetStorageFixture();
  const folder = join(ground.root, 'bare');
  await mkdir(folder);
  let service: SpawnedService | undefined;
  let bare: ForkedServer | undefined;
  const stop = async () => {
    await bare?.stop();
    await service?.stop();
    await ground.remove();
  };
  try {
    const env = {
      ...ground.env,
      LOG_LEVEL: 'warn',
      ACCESS_TOKEN_TTL: '1d',
      ...(profile ? { NODE_OPTIONS: cpuProfileFlags(profile).join(' ') } : {}),
    };
    service = await spawnService({ database, env });
    bare = await forkServer(
      new URL('./static-server.ts', import.meta.url),
      { STATIC_ROOT: folder },
      cpuProfileFlags(profile),
    );
    const grant = { role: PUBLIC_ROLE_ID, collection: 'platform_files', action: 'read', fields: ['*'] };
    await requestAsAdmin(service, 'POST', '/permissions', grant);
    const id = await ground.file(database, await createPhotoLikeJpeg(), {
      type: 'image/jpeg',
      detected_type: 'image/jpeg',
      filename_download: 'picture.jpg',
      width: 4000,
      height: 3000,
    });
    return { service, bare, ground, folder, picture: { id, path: join(ground.root, `${id}.bin`) }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
