! The same kinds of calls in Fortran, with the module that the build names.
program many
  use MODULE
  implicit none
  integer, parameter :: times = 10
  integer :: rank, ranks, right, left, error, i
  double precision :: out(1000), in(1000)
  REQUEST :: both(2)
  COMM :: half
  WINDOW :: win
  HANDLE :: file
  integer(kind=MPI_ADDRESS_KIND) :: bytes = 8000, where = 0
  integer(kind=MPI_OFFSET_KIND) :: place
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  do i = 1, times
    call MPI_Irecv(in, 1000, MPI_DOUBLE_PRECISION, left, 7, MPI_COMM_WORLD, both(1), error)
    call MPI_Isend(out, 1000, MPI_DOUBLE_PRECISION, right, 7, MPI_COMM_WORLD, both(2), error)
    call MPI_Waitall(2, both, MPI_STATUSES_IGNORE, error)
    call MPI_Sendrecv(out, 10, MPI_INTEGER, right, 1, in, 10, MPI_INTEGER, left, 1, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, error)
  end do
  call MPI_Allreduce(MPI_IN_PLACE, in, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, error)
  call MPI_Bcast(in, 50, MPI_INTEGER, 1, half, error)
  call MPI_Comm_free(half, error)
  call MPI_Win_create(out, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
  call MPI_Win_fence(0, win, error)
  call MPI_Put(in, 6, MPI_DOUBLE_PRECISION, right, where, 6, MPI_DOUBLE_PRECISION, win, error)
  call MPI_Win_fence(0, win, error)
  call MPI_Win_free(win, error)
  place = 80 * rank
  call MPI_File_open(MPI_COMM_WORLD, 'FOLDER/fortran.data', MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, file, error)
  call MPI_File_write_at(file, place, in, 10, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
  call MPI_File_close(file, error)
  call MPI_Finalize(error)
end program many
