! Transposes a matrix that is spread over the ranks by columns, again and again: large blocks from everybody to
! everybody, little work. Usage: transpose ORDER TIMES; ORDER is a multiple of the ranks.
program transpose_columns
  use mpi
  implicit none
  integer, parameter :: long = selected_int_kind(15)
  integer :: rank, ranks, order, times, width, turn, error
  real(8), allocatable :: columns(:, :), outgoing(:, :, :), incoming(:, :, :)
  real(8) :: started, difference, worst

  call MPI_Init(error)
  started = MPI_Wtime()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  order = argument(1)
  times = argument(2)
  width = order / ranks
  allocate (columns(order, width), outgoing(width, width, ranks), incoming(width, width, ranks))
  call fill()
  do turn = 1, times
    call pack_blocks()
    call MPI_Alltoall(outgoing, width * width, MPI_DOUBLE_PRECISION, incoming, width * width, MPI_DOUBLE_PRECISION, &
                      MPI_COMM_WORLD, error)
    call unpack_blocks()
  end do
  difference = farthest()
  call MPI_Reduce(difference, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, error)
  if (rank == 0) then
    write (*, '(a,f0.6)') 'seconds ', MPI_Wtime() - started
    write (*, '(a,a)') 'verified ', trim(merge('yes', 'no ', worst == 0))
  end if
  call MPI_Finalize(error)

contains

  integer function argument(place)
    integer, intent(in) :: place
    character(len=20) :: text
    call get_command_argument(place, text)
    read (text, *) argument
  end function argument

  ! What stands in a row and a column at the beginning.
  real(8) function element(row, column)
    integer, intent(in) :: row, column
    element = real(row + int(order, long) * column, 8)
  end function element

  subroutine fill()
    integer :: row, column
    do column = 1, width
      do row = 1, order
        columns(row, column) = element(row, rank * width + column)
      end do
    end do
  end subroutine fill

  subroutine pack_blocks()
    integer :: other
    do other = 1, ranks
      outgoing(:, :, other) = columns((other - 1) * width + 1:other * width, :)
    end do
  end subroutine pack_blocks

  subroutine unpack_blocks()
    integer :: other
    do other = 1, ranks
      columns((other - 1) * width + 1:other * width, :) = transpose(incoming(:, :, other))
    end do
  end subroutine unpack_blocks

  ! An odd number of times leaves the transposed matrix, an even one the first.
  real(8) function farthest()
    integer :: row, column, whole
    farthest = 0
    do column = 1, width
      whole = rank * width + column
      do row = 1, order
        if (mod(times, 2) == 0) then
          farthest = max(farthest, abs(columns(row, column) - element(row, whole)))
        else
          farthest = max(farthest, abs(columns(row, column) - element(whole, row)))
        end if
      end do
    end do
  end function farthest
end program transpose_columns
