import type { HttpReply, RunningTestService } from '../../support/service.ts';

/** Sends a file to `POST /utils/import/<collection>`, by default as the first admin. */
export function importFile(
  service: RunningTestService,
  collection: string,
  content: string | Uint8Array<ArrayBuffer>,
  type = 'text/csv',
  token: string | null = service.admin.token,
): Promise<HttpReply> {
  const form = new FormData();
  form.append('file', new File([content], 'rows', { type }));
  return service.request('POST', `/utils/import/${collection}`, { token, body: form });
}

/** The codes, rows, lines and fields of the errors of an answer. */
export const errorsOf = ({ body }: HttpReply) =>
  (body?.errors ?? []).map(({ extensions }: { extensions: Record<string, unknown> }) => ({
    code: extensions.code,
    row: extensions.row,
    ...(extensions.line === undefined ? {} : { line: extensions.line }),
    field: extensions.field,
  }));
