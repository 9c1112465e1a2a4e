import { service } from '#kernel';

export interface Delimiters {
  readonly tagLeft?: string;
  readonly tagRight?: string;
  readonly outputLeft?: string;
  readonly outputRight?: string;
}

/** Liquid templates without includes and without access to files, within limits of size and time. */
export interface Templates {
  /** INVALID_PAYLOAD with one line where it cannot be parsed or rendered within the limits. */
  render(template: string, data?: Readonly<Record<string, unknown>>, delimiters?: Delimiters): Promise<string>;
}

export const templates = service<Templates>('templates', { version: '1.0.0' });

/** What the capability `template` binds: `host.template`. */
export interface TemplateApi {
  /** INVALID_PAYLOAD as in `Templates.render`. */
  renderLiquid(
    template: string,
    data?: Readonly<Record<string, unknown>>,
    options?: { readonly delimiters?: Delimiters },
  ): Promise<string>;
}

declare module '#kernel' {
  interface HostMembers {
    readonly template: TemplateApi;
  }
}
