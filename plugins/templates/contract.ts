import { service } from '#kernel';

/** What encloses tags and outputs, 1 to 8 characters each; by default `{% %}` and `{{ }}`. */
export interface Delimiters {
  readonly tagLeft?: string;
  readonly tagRight?: string;
  readonly outputLeft?: string;
  readonly outputRight?: string;
}

/** Liquid templates without includes and without access to files, within limits of size and time. */
export interface Templates {
  /**
   * The text of the template with `data`, which is sent as JSON.
   * @throws INVALID_PAYLOAD with one line where it cannot be parsed or rendered within the limits;
   * SERVICE_UNAVAILABLE where no process is free.
   */
  render(template: string, data?: Readonly<Record<string, unknown>>, delimiters?: Delimiters): Promise<string>;
}

/** For plugins that render templates of users; packages use the capability `template`. */
export const templates = service<Templates>('templates', { version: '1.0.0' });

/** What the capability `template` binds: `host.template`. */
export interface TemplateApi {
  /**
   * `Templates.render` for a package.
   * @throws the errors of `Templates.render`.
   */
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
