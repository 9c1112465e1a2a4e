import { authorities, facet } from '#kernel';

/** A setting that has to have one value in all processes on a database. */
export interface SharedSetting {
  /** Name of the setting, such as `SECRET`. */
  readonly name: string;
  /**
   * The value of this process first; further ones that it accepts from others, as while a secret is changed, follow. Empty where the
   * setting is unset. Called once, when the process starts.
   */
  readonly values: () => readonly string[];
  /** Secrets are compared by digests and never stored or shown. Default false. */
  readonly secret?: boolean;
  /** What goes wrong where the values differ, as a sentence without its full stop. */
  readonly consequence: string;
  /** Another value than that of a live process stops the start; by default it is a warning in the log. */
  readonly stopsStart?: boolean;
}

/**
 * Settings that processes compare when they start. Plugins of lower floors name this facet by its id, with
 * `"processes.settings": {"optional": true}` in their manifests.
 */
export const sharedSettings = facet<SharedSetting>('processes.settings', {
  coreOnly: true,
  describe: () => authorities('contributes to', ['the settings that processes compare, secrets by digest']),
});
