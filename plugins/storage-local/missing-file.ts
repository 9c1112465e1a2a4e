/** Answers undefined if the file or folder does not exist (ENOENT); every other error rejects. */
export function undefinedIfFileMissing<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}
