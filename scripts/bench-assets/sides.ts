import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PUBLIC_ROLE } from '../../plugins/access/contract.ts';
import { type AssetsGround, assetsGround } from '../../test/http/assets-ground.ts';
import { asAdmin } from '../../test/http/people.ts';
import type { FreshDatabase } from '../../test/support/database.ts';
import { type SpawnedService, spawnService } from '../../test/support/service.ts';
import { type ForkedServer, forkServer } from '../bench/fork-server.ts';
import { profiling } from '../bench/service-process.ts';
import { cameraPicture } from './picture.ts';

export interface AssetBenchSides {
  readonly service: SpawnedService;
  readonly bare: ForkedServer;
  readonly ground: AssetsGround;
  /** The folder whose files the bare server serves. */
  readonly folder: string;
  /** The picture from which all variants are made. */
  readonly picture: { readonly id: string; readonly path: string };
  stop(): Promise<void>;
}

/** Starts the service with one picture that the Public role may read, and a static file server to compare it with. */
export async function startSides(database: FreshDatabase, profile: string | undefined): Promise<AssetBenchSides> {
  const ground: AssetsGround = await assetsGround();
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
      ...(profile ? { NODE_OPTIONS: profiling(profile).join(' ') } : {}),
    };
    service = await spawnService({ database, env });
    bare = await forkServer(
      new URL('./static-server.ts', import.meta.url),
      { STATIC_ROOT: folder },
      profiling(profile),
    );
    const grant = { role: PUBLIC_ROLE, collection: 'platform_files', action: 'read', fields: ['*'] };
    await asAdmin(service, 'POST', '/permissions', grant);
    const id = await ground.file(database, await cameraPicture(), {
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
