! The same ring in Fortran.
program ring
  use mpi
  implicit none
  integer :: rank, ranks, got, left, length, error
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Get_processor_name(host, length, error)
  write (*, '(a,i0,a,i0,a,a)') 'rank ', rank, ' of ', ranks, ' on ', host(1:length)
  left = mod(rank + ranks - 1, ranks)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 0, got, 1, MPI_INTEGER, left, 0, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Finalize(error)
  if (got /= left) error stop 1
end program ring
