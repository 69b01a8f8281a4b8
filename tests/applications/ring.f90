! The same ring in Fortran, and a window that each rank writes into its neighbour's, by a fence and by locks.
program ring
  use mpi
  implicit none
  integer :: rank, ranks, got, left, right, length, error, window, file
  integer(kind=MPI_ADDRESS_KIND) :: bytes = 80, at = 0
  integer(kind=MPI_OFFSET_KIND) :: place
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  character(len=4096) :: folder
  double precision :: here(10), sent(10)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Get_processor_name(host, length, error)
  write (*, '(a,i0,a,i0,a,a)') 'rank ', rank, ' of ', ranks, ' on ', host(1:length)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 0, got, 1, MPI_INTEGER, left, 0, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call confirm('ring', got == left)
  if (command_argument_count() > 0) then
    call get_command_argument(1, folder)
    here = -1
    sent = rank
    call MPI_Win_create(here, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
    call MPI_Win_fence(0, window, error)
    call MPI_Put(sent, 10, MPI_DOUBLE_PRECISION, right, at, 10, MPI_DOUBLE_PRECISION, window, error)
    call MPI_Win_fence(0, window, error)
    call MPI_Accumulate(sent, 10, MPI_DOUBLE_PRECISION, right, at, 10, MPI_DOUBLE_PRECISION, MPI_SUM, window, error)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, window, error)
    call confirm('one-sided, created window', all(here == 2 * left))
    call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window, error)
    call MPI_Get(sent, 10, MPI_DOUBLE_PRECISION, right, at, 10, MPI_DOUBLE_PRECISION, window, error)
    call MPI_Win_unlock(right, window, error)
    call confirm('one-sided, lock', all(sent == 2 * rank))
    call MPI_Win_free(window, error)
    call MPI_File_open(MPI_COMM_WORLD, trim(folder)//'/all-ranks', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, &
                       file, error)
    place = rank * 4
    call MPI_File_write_at_all(file, place, rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call MPI_File_sync(file, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    place = right * 4
    call MPI_File_read_at_all(file, place, got, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
    call MPI_File_close(file, error)
    call confirm('MPI-IO', got == right)
  end if
  call MPI_Finalize(error)

contains

  subroutine confirm(kind, mine)
    character(len=*), intent(in) :: kind
    logical, intent(in) :: mine
    logical :: everywhere
    call MPI_Allreduce(mine, everywhere, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
    if (rank == 0 .and. everywhere) write (*, '(a,a)') 'kind ', kind
    if (.not. everywhere) error stop 1
  end subroutine confirm
end program ring
