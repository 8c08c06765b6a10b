import { assembleImage } from '../harness/machines/assembled-image';
import { figure, type Figure } from './figure';

const MAX_IMAGE_MB = 250;

/** Size of the production packages on the disk: all of them, and what the image contains of them. */
export async function packages(): Promise<Figure[]> {
  const { installedMb, imageMb, remove } = await assembleImage();
  await remove();
  return [
    figure('Production packages, installed', 'MB', [installedMb]),
    figure('Production packages, in the image', 'MB', [imageMb], { atMost: MAX_IMAGE_MB }),
  ];
}
