import type { Caller } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import { clientInfoOf } from '../../http/library.ts';
import type { PageTools } from '../page-tools.ts';
import { statusOf } from '../problems.ts';

/** Holds `<share>.<access token>` for the pages below `/admin/share`, apart from the session of a user who is signed in. */
const COOKIE = 'service_share';
/** An access token; static tokens of users are not looked up, so that this cookie is no way to guess them. */
const ACCESS_TOKEN = /^(?=.{1,4000}$)[\w-]+\.[\w-]+\.[\w-]+$/;

/** The answer of `GET /shares/info/<id>`, as far as the page needs it. */
export interface ShareInfo {
  readonly id: string;
  readonly collection: string;
  readonly item: string | number;
  readonly password: string | null;
}

/** What a visitor of a share sees, and that the visitor has opened it. */
export interface ShareVisits {
  /** Opens the share, which counts a use. @throws INVALID_CREDENTIALS and what `POST /shares/auth` throws. */
  begin(ctx: HttpContext, password: string | undefined): Promise<void>;
  /** The caller of an opened share; undefined without a visit, or when its access token has expired. */
  visitorOf(ctx: HttpContext): Promise<Caller | undefined>;
  /** The fields of the item that the visitor may read. */
  readItem(ctx: HttpContext, share: ShareInfo, visitor: Caller): Promise<Readonly<Record<string, unknown>>>;
}

export const createShareVisits = ({
  api,
  identity,
  secure,
}: Pick<PageTools, 'api' | 'identity' | 'secure'>): ShareVisits => ({
  async begin(ctx, password) {
    const share = ctx.params.id;
    // The session cookie of the answer is not passed on: it would sign a user out.
    const request = { share, ...(password ? { password } : {}), mode: 'json' };
    const { body } = await api.send(ctx, { method: 'POST', path: '/shares/auth', body: request });
    const { access_token, expires } = (body as { data: { access_token: string; expires: number } }).data;
    const terms = `Max-Age=${Math.floor(expires / 1000)}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
    ctx.res.appendHeader('Set-Cookie', `${COOKIE}=${share}.${access_token}; ${terms}`);
  },

  async visitorOf(ctx) {
    const [id, ...rest] = ctx.cookies.get(COOKIE)?.split('.') ?? [];
    const token = rest.join('.');
    if (id !== ctx.params.id || !ACCESS_TOKEN.test(token)) return undefined;
    try {
      return await identity.ofToken(token, clientInfoOf(ctx));
    } catch (error) {
      if (statusOf(error) >= 500) throw error;
      return undefined;
    }
  },

  async readItem(ctx, { collection, item }, caller) {
    const folder = collection.startsWith('platform_')
      ? `/${encodeURIComponent(collection.slice('platform_'.length))}`
      : `/items/${encodeURIComponent(collection)}`;
    const path = `${folder}/${encodeURIComponent(String(item))}?fields=*`;
    const { body } = await api.send(ctx, { method: 'GET', path, caller });
    return (body as { data: Record<string, unknown> }).data;
  },
});
