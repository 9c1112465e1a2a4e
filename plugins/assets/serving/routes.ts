import { Failure } from '#kernel';
import type { HttpContext, Route } from '../../http/contract.ts';
import { rawQueryOf } from '../../http/library.ts';
import type { FindReadable } from '../reading/readable.ts';
import type { Chosen, FileRecord, Variant, Variants } from '../variant.ts';
import type { CachingFor } from './caching.ts';
import { isUnchanged } from './conditions.ts';
import { ASSET, NAMED_ASSET } from './descriptions.ts';
import type { SendFile } from './file.ts';
import { headOf } from './head.ts';
import type { Objects } from './objects.ts';
import { type About, sendUnchanged, sendWhole } from './send.ts';

interface Deps {
  readonly findReadable: FindReadable;
  readonly variants: Pick<Variants, 'choose' | 'open'>;
  readonly objects: Objects;
  readonly cachingFor: CachingFor;
  readonly sendFile: SendFile;
}

/** How often the record is read again when another process has replaced the object that it names. */
const MAX_REREADS = 5;
const AS_IT_IS: Chosen = { varies: false };

/** `/assets/<id>`, and the same with any name behind it, under which pages show and save it. */
export function assetRoutes({ findReadable, variants, objects, cachingFor, sendFile }: Deps): readonly Route[] {
  async function handle(ctx: HttpContext): Promise<void> {
    const { caller } = ctx.state;
    let file = await findReadable(caller, ctx.params.id as string);
    for (let left = MAX_REREADS; ; left--) {
      try {
        await send(ctx, file);
        return;
      } catch (error) {
        if (left === 0 || !(error instanceof Failure) || error.code !== 'FORBIDDEN') throw error;
        const other = await findReadable.again(caller, file);
        if (!other) throw error;
        file = other;
      }
    }
  }

  async function send(ctx: HttpContext, file: FileRecord): Promise<void> {
    // Most addresses have no query, and looking for wishes in it costs more than all else here.
    const query = ctx.req.url?.includes('?') ? rawQueryOf(ctx) : undefined;
    const { variant, varies } = query ? await variants.choose(file, query, ctx.req.headers.accept) : AS_IT_IS;
    const download = query?.download !== undefined && query.download !== 'false';
    const caching = await cachingFor(ctx.state.caller);
    const about = (of?: Variant): About => ({ head: headOf(file, of, download), caching, varies });
    if (variant && (await sendVariant(ctx, about(variant), file, variant))) return;
    await sendFile(ctx, about(), file);
  }

  /** Takes no ranges. Answers false where the bytes turn out to be nothing that an image can be made of. */
  async function sendVariant(ctx: HttpContext, about: About, file: FileRecord, variant: Variant): Promise<boolean> {
    if (isUnchanged(ctx.req.headers, about.head)) {
      sendUnchanged(ctx, about);
      return true;
    }
    const whole = await objects.whole(file.storage, variant.name, () => variants.open(file, variant));
    if (whole) await sendWhole(ctx, about, whole);
    return whole !== undefined;
  }

  return [
    { method: 'GET', path: '/assets/:id', description: ASSET, handle },
    { method: 'GET', path: '/assets/:id/:filename', description: NAMED_ASSET, handle },
  ];
}
