import type { RunningTestService } from '../../../support/service.ts';
import type { SampleImage } from './sample-images.ts';

/** Uploads a file by POST /files as the admin and returns its id. */
export async function uploadSampleImage(
  { url, admin }: Pick<RunningTestService, 'url' | 'admin'>,
  { name, type, bytes }: Pick<SampleImage, 'name' | 'type' | 'bytes'>,
): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)], { type }), name);
  const response = await fetch(`${url}/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin.token}` },
    body: form,
  });
  const body = (await response.json()) as { data?: { id: string } };
  if (!body.data) throw new Error(`${name} is refused: ${response.status} ${JSON.stringify(body)}`);
  return body.data.id;
}

export interface AssetReply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** Error code of the response; undefined for a response without an error. */
  readonly code?: string;
  readonly message?: string;
  readonly names?: readonly string[];
}

/** Requests GET /assets/<id> as the admin. */
export async function requestAsset(
  { url, admin }: Pick<RunningTestService, 'url' | 'admin'>,
  id: string,
  query: Readonly<Record<string, string>> = {},
  accept = '*/*',
): Promise<AssetReply> {
  const response = await fetch(`${url}/assets/${id}?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${admin.token}`, accept },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const { status, headers } = response;
  if (response.ok) return { status, headers, bytes };
  const [error] = JSON.parse(bytes.toString()).errors;
  const { code, invalidTransformations: names } = error.extensions;
  return { status, headers, bytes, code, message: error.message, names };
}
