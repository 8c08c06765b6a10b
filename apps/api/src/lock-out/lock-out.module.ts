import { Module } from '@nestjs/common';
import { LockOut } from './lock-out';

@Module({
  providers: [LockOut],
  exports: [LockOut],
})
export class LockOutModule {}
