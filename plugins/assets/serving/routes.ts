import type { HttpContext, Route } from '../../http/contract.ts';
import { allowsFrames, type PolicyAdditions, parsedQueryStringOf } from '../../http/library.ts';
import type { FindReadableFile } from '../reading/readable-file.ts';
import { withReadableFile } from '../reading/replaced-object-retry.ts';
import type { FileRecord, ImageVariant, ImageVariantChoice, ImageVariantService } from '../variant.ts';
import { assetHeadersFor } from './asset-headers.ts';
import { type AssetResponseDetails, sendNotModified, sendWholeStoredObject } from './asset-response-writers.ts';
import type { AssetCachePolicyFor } from './cache-policy.ts';
import { isNotModified } from './conditional-request.ts';
import type { StoredObjectCache } from './object-cache.ts';
import { ASSET_ROUTE_DESCRIPTION, NAMED_ASSET_ROUTE_DESCRIPTION } from './route-descriptions.ts';
import type { SendFile } from './send-file.ts';

interface RouteDeps {
  readonly findReadable: FindReadableFile;
  readonly variants: Pick<ImageVariantService, 'choose' | 'open'>;
  readonly objects: StoredObjectCache;
  readonly cachingFor: AssetCachePolicyFor;
  readonly sendFile: SendFile;
  /** Sources that an admin adds to the policies of files. */
  readonly policyAdditions?: PolicyAdditions;
}

const UNTRANSFORMED: ImageVariantChoice = { varies: false };

/** `/assets/<id>`, and the same with any file name behind it. */
export function assetRoutes({
  findReadable,
  variants,
  objects,
  cachingFor,
  sendFile,
  policyAdditions = new Map(),
}: RouteDeps): readonly Route[] {
  const allowsRemoteFrames = allowsFrames(policyAdditions);

  const handle = (ctx: HttpContext): Promise<void> => {
    // The header of all responses allows no frame, and can name no other site.
    if (allowsRemoteFrames) ctx.remove('X-Frame-Options');
    return withReadableFile(findReadable, ctx.state.caller, ctx.params.id as string, (file) => send(ctx, file));
  };

  async function send(ctx: HttpContext, file: FileRecord): Promise<void> {
    // Most URLs have no query, and parsing it costs more than the rest of this function.
    const query = ctx.req.url?.includes('?') ? parsedQueryStringOf(ctx) : undefined;
    const { variant, varies } = query ? await variants.choose(file, query, ctx.req.headers.accept) : UNTRANSFORMED;
    const download = query?.download !== undefined && query.download !== 'false';
    const caching = await cachingFor(ctx.state.caller);
    const about = (of?: ImageVariant): AssetResponseDetails => ({
      headers: assetHeadersFor(file, of, download, policyAdditions),
      caching,
      varies,
    });
    if (variant && (await sendVariant(ctx, about(variant), file, variant))) return;
    await sendFile(ctx, about(), file);
  }

  /** Sends a transformed image, always whole. Answers false if the bytes of the file turn out to be no image. */
  async function sendVariant(
    ctx: HttpContext,
    about: AssetResponseDetails,
    file: FileRecord,
    variant: ImageVariant,
  ): Promise<boolean> {
    if (isNotModified(ctx.req.headers, about.headers)) {
      sendNotModified(ctx, about);
      return true;
    }
    const whole = await objects.readWhole(file.storage, variant.name, () => variants.open(file, variant));
    if (whole) await sendWholeStoredObject(ctx, about, whole);
    return whole !== undefined;
  }

  return [
    { method: 'GET', path: '/assets/:id', description: ASSET_ROUTE_DESCRIPTION, handle },
    { method: 'GET', path: '/assets/:id/:filename', description: NAMED_ASSET_ROUTE_DESCRIPTION, handle },
  ];
}
