import { service } from '#kernel';

/** Delimiters of tags and outputs, 1 to 8 characters each. Default: `{% %}` and `{{ }}`. */
export interface TemplateDelimiters {
  readonly tagLeft?: string;
  readonly tagRight?: string;
  readonly outputLeft?: string;
  readonly outputRight?: string;
}

/** How one template is rendered. */
export interface TemplateRenderOptions extends TemplateDelimiters {
  /** Escapes each output for HTML, except one whose last filter is `raw`. Default false. */
  readonly escapeHtml?: boolean;
}

/** Liquid templates without includes and without access to files, within limits of size and time. */
export interface TemplateService {
  /**
   * Renders a template with `data`, which is sent as JSON.
   * @throws INVALID_PAYLOAD with one line where the template cannot be parsed or rendered within the limits;
   * SERVICE_UNAVAILABLE where no process is free.
   */
  render(template: string, data?: Readonly<Record<string, unknown>>, options?: TemplateRenderOptions): Promise<string>;
}

/** The service that renders templates of users, for core plugins. Extensions use the capability `template`. */
export const templates = service<TemplateService>('templates', { version: '1.0.0' });

/** The object that the capability `template` binds as `host.template`. */
export interface TemplateApi {
  /**
   * `Templates.render` for a package.
   * @throws the errors of `Templates.render`.
   */
  renderLiquid(
    template: string,
    data?: Readonly<Record<string, unknown>>,
    options?: { readonly delimiters?: TemplateDelimiters },
  ): Promise<string>;
}

declare module '#kernel' {
  interface HostMembers {
    readonly template: TemplateApi;
  }
}
