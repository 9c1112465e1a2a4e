export interface FilesConfig {
  /** Bytes; undefined: any number. */
  FILES_MAX_UPLOAD_SIZE: number | undefined;
  FILES_MIME_TYPE_ALLOW_LIST: readonly string[];
  FILE_METADATA_ALLOW_LIST: readonly string[];
  IMPORT_TIMEOUT: number;
  IMPORT_MAX_CONCURRENCY: number;
  IMPORT_MAX_FILE_SIZE: number;
}
