/** The settings of the plugin `extensions`, as its manifest declares them. */
export interface ExtensionsConfig {
  readonly EXTENSIONS_PATH: string;
  readonly EXTENSIONS_AUTO_RELOAD: boolean;
  /** Milliseconds; undefined makes browsers revalidate each time. */
  readonly EXTENSIONS_CACHE_TTL?: number;
  readonly PACKAGE_FILE_LOCATION: string;
  readonly EXTENSIONS_HOST_CHECK: 'warn' | 'strict';
  readonly SAFE_MODE: boolean;
}
