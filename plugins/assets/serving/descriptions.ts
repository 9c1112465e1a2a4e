import type { RouteDescription } from '../../http/contract.ts';
import { BOOLEAN, INTEGER, oneOfTexts, parameter } from '../../http/library.ts';

const atLeast = (minimum: number, maximum?: number) => ({
  ...INTEGER,
  minimum,
  ...(maximum === undefined ? {} : { maximum }),
});

const id = parameter('The id of the file.');

export const ASSET_ROUTE: RouteDescription = {
  summary: 'Sends the bytes of a file, whole or in ranges, or an image made of them.',
  tag: 'assets',
  access: 'permissions',
  params: { id },
  query: {
    download: parameter('Makes it a download; anything but "false".'),
    key: parameter('The name of a preset of the settings; in the place of all below.'),
    width: parameter('Pixels.', atLeast(1)),
    height: parameter('Pixels.', atLeast(1)),
    fit: parameter('How an image fills width and height.', oneOfTexts('cover', 'contain', 'inside', 'outside')),
    format: parameter('The format of the image.', oneOfTexts('jpg', 'png', 'webp', 'tiff', 'avif', 'auto')),
    quality: parameter('Percent.', atLeast(1, 100)),
    withoutEnlargement: parameter('Leaves images as small as they are.', BOOLEAN),
    focal_point_x: parameter('Pixels from the left that stay in sight when the image is cut.', atLeast(0)),
    focal_point_y: parameter('Pixels from the top that stay in sight when the image is cut.', atLeast(0)),
    transforms: parameter('A list of further operations with their arguments, as JSON.'),
  },
  answers: { 200: { '*/*': {} }, 206: { '*/*': {} } },
  errors: ['ILLEGAL_ASSET_TRANSFORMATION', 'RANGE_NOT_SATISFIABLE'],
};

export const NAMED_ASSET_ROUTE: RouteDescription = {
  ...ASSET_ROUTE,
  params: { id, filename: parameter('Any name, under which pages show and save it.') },
};
