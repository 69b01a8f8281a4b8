! Sweeps over a plane whose columns are spread over the ranks: what a rank works out for some rows goes on to the next
! rank, first to the right, then to the left. Usage: wavefront COLUMNS ANGLES BLOCKS SWEEPS; each rank has COLUMNS, and
! BLOCKS of 32 rows.
program wavefront_sweeps
  use mpi
  implicit none
  integer, parameter :: rows = 32
  integer :: rank, ranks, columns, angles, blocks, sweeps, sweep, error
  real(8), allocatable :: value(:, :, :), edge(:, :)
  real(8) :: started, difference, worst

  call MPI_Init(error)
  started = MPI_Wtime()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  columns = argument(1)
  angles = argument(2)
  blocks = argument(3)
  sweeps = argument(4)
  allocate (value(angles, 0:columns, 0:rows), edge(angles, rows))
  difference = 0
  do sweep = 1, sweeps
    if (mod(sweep, 2) == 1) then
      call pass(rank, rank - 1, rank + 1)
    else
      call pass(ranks - 1 - rank, rank + 1, rank - 1)
    end if
  end do
  call MPI_Reduce(difference, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, error)
  if (rank == 0) then
    write (*, '(a,f0.6)') 'seconds ', MPI_Wtime() - started
    write (*, '(a,a)') 'verified ', trim(merge('yes', 'no ', worst == 0))
  end if
  call MPI_Finalize(error)

contains

  integer function argument(at)
    integer, intent(in) :: at
    character(len=20) :: text
    call get_command_argument(at, text)
    read (text, *) argument
  end function argument

  ! One sweep of the rank that is the `place`-th of it: all blocks of rows, each after that of the rank before.
  subroutine pass(place, before, after)
    integer, intent(in) :: place, before, after
    integer :: block, column, row
    do column = 0, columns
      value(:, column, rows) = exact(0, place * columns + column)
    end do
    do block = 1, blocks
      value(:, :, 0) = value(:, :, rows)
      if (place > 0) then
        call MPI_Recv(edge, angles * rows, MPI_DOUBLE_PRECISION, before, sweep, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
        value(:, 0, 1:rows) = edge
      else
        do row = 1, rows
          value(:, 0, row) = exact((block - 1) * rows + row, 0)
        end do
      end if
      call work()
      if (place < ranks - 1) then
        edge = value(:, columns, 1:rows)
        call MPI_Send(edge, angles * rows, MPI_DOUBLE_PRECISION, after, sweep, MPI_COMM_WORLD, error)
      end if
    end do
    difference = max(difference, maxval(abs(value(:, columns, rows) - exact(blocks * rows, (place + 1) * columns))))
  end subroutine pass

  ! What the recurrence below yields, without any rounding.
  real(8) function exact(row, column)
    integer, intent(in) :: row, column
    exact = real(row + 2 * column, 8)
  end function exact

  subroutine work()
    integer :: row, column
    do row = 1, rows
      do column = 1, columns
        value(:, column, row) = 0.5d0 * (value(:, column - 1, row) + value(:, column, row - 1)) + 1.5d0
      end do
    end do
  end subroutine work
end program wavefront_sweeps
